import { same } from "./canonical";
import type { AnyResource, Context } from "./context";
import { isBelow, type Path, parsePath, renderDetail } from "./path";
import type { Change, Kept, Placed } from "./resource";
import { type Properties, unknown, unknownPaths } from "./wire";

export interface DiffRequest {
    state: Properties;
    oldInputs: Properties;
    news: Properties;
    ignoreChanges: string[];
}

/** What differs between the live state and the wish. Pure: the host was looked at by `read`. */
export function diff(context: Pick<Context, "hosts">, resource: AnyResource, request: DiffRequest): Change[] {
    const { oldInputs, news } = request;
    const name = hostName(news) ?? hostName(oldInputs);
    if (name !== undefined && context.hosts.unreached(name) !== undefined && sameWish(oldInputs, news)) {
        return [];
    }
    const ignored = request.ignoreChanges.map(parsePath);
    return distinct(differences(resource, request)).filter(({ path }) => !ignored.some((one) => isBelow(path, one)));
}

function differences(resource: AnyResource, { state, oldInputs, news }: DiffRequest): Change[] {
    const holes = unknownPaths(news).filter(([top]) => top !== "connection");
    const filled = fill(news, oldInputs);
    const known = filled === undefined ? [] : resource.diff(state as unknown as Kept, filled as unknown as Placed);
    return [...known, ...holes.map((path): Change => ({ path: [...path], kind: "update" }))];
}

/** The wish with the recorded values where it is not known yet; undefined where there are none. */
function fill(value: Properties, recorded: Properties): Properties | undefined {
    let whole = true;
    const walk = (now: unknown, before: unknown): unknown => {
        if (now === unknown) {
            whole = whole && before !== undefined;
            return before;
        }
        if (Array.isArray(now)) {
            return now.map((item, at) => walk(item, Array.isArray(before) ? before[at] : undefined));
        }
        if (typeof now === "object" && now !== null && Object.getPrototypeOf(now) === Object.prototype) {
            const old = typeof before === "object" && before !== null ? (before as Properties) : {};
            return Object.fromEntries(Object.entries(now).map(([key, item]) => [key, walk(item, old[key])]));
        }
        return now;
    };
    const result = walk(value, recorded) as Properties;
    return whole ? result : undefined;
}

function sameWish(a: Properties, b: Properties): boolean {
    return same({ ...a, connection: null }, { ...b, connection: null });
}

function hostName(inputs: Properties): string | undefined {
    const name = (inputs.connection as Properties | undefined)?.name;
    return typeof name === "string" ? name : undefined;
}

function distinct(changes: Change[]): Change[] {
    return [...new Map(changes.map((change) => [renderDetail(change.path as Path), change])).values()];
}

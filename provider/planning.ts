import { same } from "./canonical";
import type { ChangeRequest } from "./change";
import type { AnyResource, Context } from "./context";
import { diff } from "./diff";
import type { Caused, Change, Planning, Work } from "./resource";
import type { Properties } from "./wire";

/** What a preview works with: also what differs and who made it. Its messages begin with their row's name, as not every display says it. */
export function planning(
    context: Context,
    resource: AnyResource,
    { state, oldInputs = {}, inputs: news, ignoreChanges = [] }: ChangeRequest,
    work: Work,
): Planning {
    const row = work.urn.slice(work.urn.lastIndexOf("::") + 2);
    const known = { state: state ?? {}, oldInputs, news };
    const changes = state === undefined ? [] : diff(context, resource, { ...known, ignoreChanges });
    return {
        ...work,
        changes: caused(resource, changes, known),
        info: (text) => work.info(`${row}: ${text}`),
        warn: (text) => work.warn(`${row}: ${text}`),
    };
}

/**
 * Who made each difference. What the host shows other than was last declared, somebody changed there; what is declared
 * other than it was, the config changed; and it can be both.
 */
function caused(
    resource: Pick<AnyResource, "diff">,
    changes: Change[],
    { state, oldInputs, news }: { state: Properties; oldInputs: Properties; news: Properties },
): Caused[] {
    if (changes.length === 0) {
        return [];
    }
    const drift = resource.diff(state as never, oldInputs as never);
    const drifted = new Set(drift.map(({ path }) => JSON.stringify(path)));
    return changes.map((change) => {
        const onHost = drifted.has(JSON.stringify(change.path));
        const declared = same(at(oldInputs, change.path) ?? null, at(news, change.path) ?? null);
        return { ...change, cause: !onHost ? "config" : declared ? "host" : "both" };
    });
}

function at(value: unknown, path: Change["path"]): unknown {
    return path.reduce<unknown>((inner, part) => (inner as Record<string, unknown> | undefined)?.[part], value);
}

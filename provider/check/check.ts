import type { AnyResource, Context } from "../context";
import { noteDonors } from "../donors/shown";
import { Invalid } from "../invalid";
import type { Path } from "../path";
import type { Placed } from "../resource";
import { type Properties, unknown, unknownPaths } from "../wire";
import { problems } from "./problems";

export interface CheckRequest {
    urn: string;
    news: Properties;
    /** Inputs of the state; empty on create. */
    olds: Properties;
    seed: Uint8Array;
}

export type CheckAnswer = { inputs: Properties } | { failures: string[] };

/** Judges inputs and adds the ids that follow from them. Contacts nobody but donors. */
export async function check(context: Context, resource: AnyResource, request: CheckRequest): Promise<CheckAnswer> {
    const { olds } = request;
    const news = given(resource, request.news);
    const holes = unknownPaths(news);
    place(context, resource, request.urn, news, holes);
    const parsed = resource.inputs.safeParse(news);
    if (!parsed.success) {
        const failures = problems(resource.inputs, news, parsed.error.issues, holes);
        if (failures.length > 0) {
            return { failures };
        }
    }
    if (!parsed.success || holes.length > 0) {
        // The ids follow from values that are not there yet.
        return { inputs: { ...news, ...Object.fromEntries(resource.resolved.map((name) => [name, unknown])) } };
    }
    const inputs = parsed.data;
    const { hosts, donors, log } = context;
    const progress = log.progress(request.urn);
    const tell = { progress: progress.line, warn: (text: string) => log.warn(request.urn, text) };
    try {
        const facts = hosts.seen(inputs.connection, inputs.root);
        const prior = Object.keys(olds).length === 0 ? undefined : (olds as unknown as typeof inputs);
        const resolved = await resource.resolve(inputs, { facts, prior, seed: request.seed, donors, tell });
        noteDonors(context.seen, request.urn, resolved);
        return { inputs: { ...resolved } };
    } catch (error) {
        if (error instanceof Invalid) {
            return { failures: error.message.split("\n") };
        }
        throw error;
    } finally {
        progress.end();
    }
}

/** The inputs without what this made of them: an import has what it read judged, whole. */
function given({ inputs, resolved }: AnyResource, news: Properties): Properties {
    if (!resolved.every((name) => name in news)) {
        return news;
    }
    const issues = inputs.safeParse(news).error?.issues ?? [];
    const made = issues.flatMap((one) => (one.code === "unrecognized_keys" && one.path.length === 0 ? one.keys : []));
    return Object.fromEntries(Object.entries(news).filter(([name]) => !made.includes(name)));
}

/** Notes what it is to be on its host as soon as that is known: of what waits for something that failed, nothing more comes. */
function place({ declared }: Context, resource: AnyResource, urn: string, news: Properties, holes: Path[]): void {
    const inputs = news as unknown as Placed;
    const open = holes.some(([first]) => ["connection", "root", "name", "service", "venv"].includes(String(first)));
    if (!open && typeof inputs.connection?.name === "string" && typeof inputs.root === "string") {
        declared.placed(urn, resource.id(inputs), inputs);
    }
}

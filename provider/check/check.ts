import type { AnyResource, Context } from "../context";
import { noteDonors } from "../donors/shown";
import { Invalid } from "../invalid";
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
    const { news, olds } = request;
    const holes = unknownPaths(news);
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
    context.declared.placed(request.urn, resource.id(inputs));
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

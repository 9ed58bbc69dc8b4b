import type { Connection } from "./connection";
import type { AnyResource, Context } from "./context";
import { explain } from "./errors";
import type { HostFacts } from "./host/facts";
import { HostError } from "./host/host";
import { located } from "./inventory";
import type { Kept, Placed } from "./resource";
import type { Properties } from "./wire";

export interface ReadRequest {
    id: string;
    urn: string;
    /** Empty on import. */
    inputs: Properties;
    state: Properties;
}

/** `id` "" = the host says that it is not there. */
export interface ReadAnswer {
    id: string;
    inputs: Properties;
    state: Properties;
}

const GONE: ReadAnswer = { id: "", inputs: {}, state: {} };

/** The state as the host shows it now. A host that cannot be asked changes nothing: what was known stays known. */
export async function read(context: Context, resource: AnyResource, request: ReadRequest): Promise<ReadAnswer> {
    if (Object.keys(request.inputs).length === 0) {
        return importIt(context, resource, request);
    }
    const inputs = request.inputs as unknown as Placed;
    const known = context.hosts.unreached(inputs.connection.name);
    const facts =
        known === undefined ? await lookOrNot(context, request.urn, inputs.connection, inputs.root) : undefined;
    if (facts === undefined) {
        return { id: request.id, inputs: request.inputs, state: request.state };
    }
    const prior = request.state as unknown as Kept;
    if (prior.machine !== undefined && prior.machine !== facts.machine.machineId) {
        context.log.warn(
            request.urn,
            `${inputs.connection.name}: another machine answers there (machine id ${facts.machine.machineId}, was ${prior.machine}); what is missing on it is made anew.`,
        );
    }
    const state = resource.read(facts, request.id, { inputs, state: prior });
    return state === undefined ? GONE : { id: request.id, inputs: request.inputs, state: { ...state } };
}

async function lookOrNot(
    context: Context,
    urn: string,
    connection: Connection,
    root: string,
): Promise<HostFacts | undefined> {
    const before = context.hosts.unreached(connection.name);
    try {
        return await context.hosts.at(connection).look(root);
    } catch (error) {
        if (!(error instanceof HostError) || context.cancelled.aborted) {
            throw error;
        }
        if (before === undefined) {
            context.log.warn(
                urn,
                `${explain(error).split("\n")[0]}\nNot looked at: its resources are shown as they were last seen.`,
            );
        }
        return undefined;
    }
}

async function importIt(context: Context, resource: AnyResource, request: ReadRequest): Promise<ReadAnswer> {
    const { connection, root } = await located(request.id);
    const facts = await context.hosts.at(connection).look(root);
    const inputs = resource.imported(facts, request.id, connection);
    const state = inputs === undefined ? undefined : resource.read(facts, request.id);
    return state === undefined || inputs === undefined
        ? GONE
        : { id: request.id, inputs: { ...inputs }, state: { ...state } };
}

import { randomBytes } from "node:crypto";
import { isAbandoned, otherMachine } from "./abandoned";
import type { AnyResource, Context } from "./context";
import { engineCommand } from "./engineCommand";
import { explain } from "./errors";
import { stoppable } from "./host/abort";
import type { HostFacts } from "./host/facts";
import { HostError } from "./host/host";
import { located } from "./inventory";
import type { Path } from "./path";
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
    /** What is to be marked as a secret besides what the engine has marked. */
    secrets: Path[];
}

const GONE: ReadAnswer = { id: "", inputs: {}, state: {}, secrets: [] };

/** The state as the host shows it now. A host that cannot be asked changes nothing: what was known stays known. */
export async function read(context: Context, resource: AnyResource, request: ReadRequest): Promise<ReadAnswer> {
    if (Object.keys(request.inputs).length === 0) {
        return importIt(context, resource, request);
    }
    const inputs = request.inputs as unknown as Placed;
    const prior = request.state as unknown as Kept;
    const unchanged = { id: request.id, inputs: request.inputs, state: request.state, secrets: [] };
    context.declared.kept(request.urn, inputs.connection.name, prior.owner);
    context.donors.learn(request.inputs);
    const facts = await lookOrNot(context, request.urn, inputs);
    if (facts === undefined) {
        return unchanged;
    }
    const unread = unreadable(context, request.id, inputs, facts);
    if (unread !== undefined) {
        notLooked(context, request.urn, unread, "It is shown as it was last seen.");
        return unlooked(unread) ?? unchanged;
    }
    const state = resource.read(facts, request.id, { inputs, state: prior });
    if (state !== undefined) {
        context.seen.note(request.urn, { ...state }, resource.restless);
        for (const remark of resource.remarks?.(facts, request.id) ?? []) {
            context.log.warn(request.urn, remark);
        }
        return { ...unchanged, state: { ...state } };
    }
    const { name } = inputs.connection;
    if (prior.machine !== undefined && prior.machine !== facts.machine.machineId && !isAbandoned(name)) {
        const error = otherMachine(inputs.connection, prior, facts);
        context.hosts.refuse(name, error);
        notLooked(context, request.urn, error);
        return unchanged;
    }
    return GONE;
}

async function lookOrNot(context: Context, urn: string, { connection, root }: Placed): Promise<HostFacts | undefined> {
    const { hosts, cancelled } = context;
    const before = hosts.unreached(connection.name);
    if (before !== undefined) {
        return unlooked(before);
    }
    try {
        return await stoppable(hosts.at(connection), cancelled).look(root);
    } catch (error) {
        if (!(error instanceof HostError) || cancelled.aborted) {
            throw error;
        }
        notLooked(context, urn, error);
        return unlooked(error);
    }
}

function notLooked(
    { log }: Context,
    urn: string,
    error: HostError,
    then = "Not looked at: its resources are shown as they were last seen.",
): void {
    log.warn(urn, `${explain(error).split("\n")[0]}\n${then}`);
}

/** Why the host, which was looked at, cannot tell of this one thing. That is no word that it is gone. */
function unreadable({ hosts }: Context, id: string, { connection }: Placed, facts: HostFacts): HostError | undefined {
    const report = facts.unreadable?.[id.split("/").slice(1).join("/")];
    if (report === undefined) {
        return undefined;
    }
    const error = new HostError(hosts.at(connection).label, report);
    hosts.unreadable(id, error);
    return error;
}

/** A refresh has no program that could ask at its end who was not reached: there the read itself has to fail. */
function unlooked(error: HostError): undefined {
    if (engineCommand() === "refresh" && !isAbandoned(error.host)) {
        throw error;
    }
    return undefined;
}

async function importIt(context: Context, resource: AnyResource, request: ReadRequest): Promise<ReadAnswer> {
    const { connection, root } = await located(request.id);
    const { donors, log } = context;
    const tell = { progress: () => undefined, warn: (text: string) => log.warn(request.urn, text) };
    const host = stoppable(context.hosts.at(connection), context.cancelled);
    const facts = await host.look(root);
    const unread = unreadable(context, request.id, { connection, root }, facts);
    if (unread !== undefined) {
        throw unread;
    }
    const found = await resource.imported(facts, request.id, connection, host);
    if (found === undefined) {
        return GONE;
    }
    const given = resource.inputs.parse(found.inputs);
    const prior = { ...given, salt: found.salt, pins: found.pins };
    const inputs = { ...(await resource.resolve(given, { facts, prior, seed: randomBytes(32), donors, tell })) };
    // What the host cannot tell is as it is declared.
    const declared = { ...inputs, ...ownerOf(facts, request.id) };
    const state = resource.read(facts, request.id, { inputs, state: declared });
    return state === undefined ? GONE : { id: request.id, inputs, state: { ...state }, secrets: found.secrets ?? [] };
}

/** An import takes what is there for its own. */
function ownerOf({ claims, machine }: HostFacts, id: string): Kept {
    return { owner: claims[id.split("/").slice(1).join("/")]?.owner ?? "", machine: machine.machineId };
}

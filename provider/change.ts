import { randomBytes } from "node:crypto";
import { isAbandoned } from "./abandoned";
import { allowed, sameMachine } from "./allowed";
import { same } from "./canonical";
import type { AnyResource, Context } from "./context";
import { explain } from "./errors";
import { stoppable } from "./host/abort";
import { HostError } from "./host/host";
import { foreseeHeir, notInherited } from "./inherited";
import { type Path, renderPath } from "./path";
import { planning } from "./planning";
import { type Kept, type Placed, Unplanned, type Work } from "./resource";
import { isSecret } from "./secrets";
import { type Properties, unknownPaths } from "./wire";

export interface ChangeRequest {
    urn: string;
    inputs: Properties;
    /** Where secrets stand in them. */
    secrets: Path[];
    /** The state that is there; absent on create. */
    state?: Properties;
    /** What was declared before, and which paths of it the program wants left alone; of an update. */
    oldInputs?: Properties;
    ignoreChanges?: string[];
    preview: boolean;
    /** Seconds; 0 = none. */
    timeout: number;
}

/** `preview --diff` keeps each line of progress, so that only a preview that takes long has any; milliseconds. */
const QUIET_PREVIEW = 10_000;

/** Something failed and something else than before is there. */
export class Unfinished extends Error {
    constructor(
        readonly id: string,
        readonly state: Properties,
        reason: string,
    ) {
        super(reason);
        this.name = "Unfinished";
    }
}

/** Creates (an update from nothing), updates, or says what either would do. */
export async function change(
    context: Context,
    resource: AnyResource,
    request: ChangeRequest,
): Promise<{ id: string; state: Properties }> {
    if (request.preview) {
        return plan(context, resource, request);
    }
    const inputs = request.inputs as unknown as Placed;
    const prior = request.state as unknown as Kept | undefined;
    const id = resource.id(inputs);
    const state = await working(context, inputs, request, async (work) => {
        await allowed(context, resource, request, work);
        try {
            return await resource.apply(inputs, prior, work);
        } catch (error) {
            work.host.changed(inputs.root);
            const left = await leftBehind(resource, inputs, prior, work);
            throw left === undefined ? error : new Unfinished(id, { ...left }, explain(error));
        } finally {
            work.host.changed(inputs.root);
        }
    });
    return { id, state: { ...state } };
}

/** After a failure: what the host has now, when that is neither nothing nor what was there before. */
async function leftBehind(
    resource: AnyResource,
    inputs: Placed,
    prior: Kept | undefined,
    work: Work,
): Promise<Kept | undefined> {
    try {
        const facts = await work.host.look(inputs.root);
        const state = prior ?? { owner: work.owner, machine: facts.machine.machineId };
        const now = resource.read(facts, resource.id(inputs), { inputs, state });
        if (now === undefined || prior === undefined) {
            return now;
        }
        return same(resource.diff(prior, inputs), resource.diff(now, inputs)) ? undefined : now;
    } catch {
        // Who cannot be asked now is read before the next change.
        return undefined;
    }
}

/**
 * The planned state. What cannot be planned yet is left out, so that it is unknown to the program too: inputs that
 * another resource still has to make, and hosts that cannot be reached (the fleet says so at its end).
 */
async function plan(
    context: Context,
    resource: AnyResource,
    request: ChangeRequest,
): Promise<{ id: string; state: Properties }> {
    const given = Object.entries(request.inputs).filter(([name]) => !resource.resolved.includes(name));
    const holes = unknownPaths(Object.fromEntries(given));
    if (holes.length > 0) {
        const onHost = holes.some(([top]) => top === "connection" || top === "root");
        const text = onHost ? "Planned after the host is known" : "Planned in full after these are known";
        await foreseeHeir(context, request.urn);
        context.log.info(request.urn, `${text}: ${holes.map(renderPath).join(", ")}.`);
        return { id: "", state: {} };
    }
    const inputs = request.inputs as unknown as Placed;
    const unplanned = { id: resource.id(inputs), state: request.state ?? {} };
    const { name } = inputs.connection;
    if (context.hosts.unreached(name) !== undefined) {
        return unplanned;
    }
    try {
        const planned = await working(context, inputs, request, async (work) => {
            await allowed(context, resource, request, work);
            const prior = request.state as unknown as Kept | undefined;
            return resource.plan(inputs, prior, planning(context, resource, request, work));
        });
        return { id: resource.id(inputs), state: { ...planned } };
    } catch (error) {
        const away = error instanceof Error && error.cause instanceof Unplanned;
        if ((away || context.hosts.unreached(name) !== undefined) && !context.cancelled.aborted) {
            return unplanned;
        }
        throw error;
    }
}

/** Removes what is ours. A host that is gone for good is given up only when the user names it. */
export async function remove(
    context: Context,
    resource: AnyResource,
    request: ChangeRequest & { state: Properties },
): Promise<void> {
    const inputs = request.inputs as unknown as Placed;
    const { name } = inputs.connection;
    if (isAbandoned(name)) {
        context.log.warn(request.urn, `${name}: given up as SGLANG_FLEET_ABANDON says; what is on it stays there.`);
        return;
    }
    await working(context, inputs, request, async (work) => {
        try {
            await sameMachine(context, resource, request, work);
            await notInherited(context, resource, request, work);
            await resource.remove(inputs, request.state as unknown as Kept, work);
        } catch (error) {
            if (
                error instanceof HostError &&
                (error.report.code === "unreachable" || context.hosts.unreached(name) !== undefined)
            ) {
                throw new Error(
                    `${explain(error)}\nIf ${name} is gone for good: SGLANG_FLEET_ABANDON=${name} pulumi destroy`,
                    { cause: error },
                );
            }
            throw error;
        } finally {
            work.host.changed(inputs.root);
        }
    });
}

async function working<R>(
    context: Context,
    inputs: Placed,
    { urn, timeout, state, secrets, preview }: Omit<ChangeRequest, "inputs" | "oldInputs" | "ignoreChanges">,
    act: (work: Work) => Promise<R>,
): Promise<R> {
    const { log, hosts, cancelled } = context;
    const progress = log.progress(urn, preview ? QUIET_PREVIEW : 0);
    const expired = timeout > 0 ? AbortSignal.timeout(timeout * 1000) : undefined;
    const signal = expired === undefined ? cancelled : AbortSignal.any([cancelled, expired]);
    const work: Work = {
        host: stoppable(hosts.at(inputs.connection), signal),
        donors: context.donors,
        urn,
        owner: typeof state?.owner === "string" ? state.owner : randomBytes(8).toString("hex"),
        progress: progress.line,
        info: (text) => log.info(urn, text),
        warn: (text) => log.warn(urn, text),
        signal,
        isSecret: (path) => isSecret(secrets, path),
        takeOver: inputs.takeOver ?? false,
    };
    try {
        return await act(work);
    } catch (error) {
        if (error instanceof Unfinished) {
            throw error;
        }
        const because = cancelled.aborted
            ? "cancelled: "
            : expired?.aborted === true
              ? `stopped after the ${timeout} s that customTimeouts allow: `
              : "";
        throw new Error(because + explain(error), { cause: error });
    } finally {
        progress.end();
    }
}

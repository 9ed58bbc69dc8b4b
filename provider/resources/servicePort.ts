import { explain } from "../errors";
import type { HostFacts } from "../host/facts";
import { HostError } from "../host/host";
import type { Planning } from "../resource";
import type { SglangServiceWish } from "./serviceWish";

/**
 * Why a new service cannot have its port, when another service of this root runs on it; undefined when it can. Said in
 * the preview: what is new is started before what is gone is removed, so a service that was renamed would stand in its own way.
 */
export function portHeld(facts: HostFacts, name: string, port: number): string | undefined {
    const [holder] = Object.entries(facts.services).find(
        ([other, { current, process }]) => other !== name && process !== null && current?.spec.port === port,
    ) ?? [undefined];
    if (holder === undefined) {
        return undefined;
    }
    return [
        `port ${port} is that of service \`${holder}\`, which runs on this host: a new service starts before an old one is removed`,
        `To mend it: remove \`${holder}\` by an \`up\` of its own and add \`${name}\` by the next one, or give \`${name}\` another port`,
    ].join("\n");
}

interface Held {
    problem: string | null;
    takes: string | null;
}

/**
 * What the host says of the port where the service does not listen on it yet, and of a model that is not the one that runs: who
 * holds the port, whether that server would be stopped, and whether the model is there. Undefined: nothing stands in its way.
 */
export async function foreseenPort(
    { root, name, address, port, takeOverPort, model }: SglangServiceWish,
    facts: HostFacts,
    work: Planning,
): Promise<{ warning: boolean; text: string } | undefined> {
    const live = facts.services[name];
    const modelPath = model.startsWith("/") ? model : null;
    const runs = live?.process == null ? undefined : live.current?.spec;
    if (runs?.port === port && runs.address === address && runs.modelPath === modelPath) {
        return undefined;
    }
    const args = { root, service: name, spec: { address, port, takeOverPort, modelPath } };
    try {
        const { problem, takes } = await work.host.call<Held>("service.port", args, work);
        if (problem !== null) {
            return { warning: true, text: `as the host stands, this would fail: ${problem}` };
        }
        return takes === null
            ? undefined
            : { warning: false, text: `stops ${takes}, which holds port ${port}; it is started again if this fails` };
    } catch (error) {
        if (error instanceof HostError && error.report.code !== "unreachable" && !work.signal.aborted) {
            return { warning: true, text: explain(error) };
        }
        throw error;
    }
}

import type { HostFacts } from "../host/facts";

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

import type { ServiceFacts } from "../host/serviceFacts";

/** A sentence when a server runs as declared but nothing listens on its port; one that is being activated is waited for, and said by that. */
export function silent(live: ServiceFacts | undefined, now: number): string[] {
    const { current, process, activation, running } = live ?? {};
    if (current == null || process == null || process.listens !== false || running !== "running") {
        return [];
    }
    if (activation?.state === "running" || activation?.state === "interrupted") {
        return [];
    }
    return [
        `runs for ${age(now - process.started)} (pid ${process.pid}), but nothing listens on port ${current.spec.port}: it still loads, or hangs; up does not wait for it, nor restart it`,
    ];
}

function age(seconds: number): string {
    return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

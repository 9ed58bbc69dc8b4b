/** In which order the hosts of a fleet are changed. */
export interface Rollout {
    /** Hosts that are changed first; the others wait until these have succeeded. Default: none. */
    canary?: string[];
    /** How many of the others are changed at a time: a number, or a share of them such as `25%`. Default: all. */
    batch?: number | string;
}

/** Hosts in waves: each wave waits for the one before it. Order within and among waves is that of `hosts`. */
export function waves(hosts: string[], rollout: Rollout = {}): string[][] {
    const canary = hosts.filter((host) => rollout.canary?.includes(host));
    const others = hosts.filter((host) => !canary.includes(host));
    const size = batchSize(rollout.batch, others.length);
    const batches = Array.from({ length: Math.ceil(others.length / size) }, (_, index) =>
        others.slice(index * size, (index + 1) * size),
    );
    return [canary, ...batches].filter((wave) => wave.length > 0);
}

/** A share is rounded up, so that it is never nobody. */
function batchSize(batch: number | string | undefined, hosts: number): number {
    const wanted = typeof batch === "string" ? Math.ceil((hosts * Number.parseInt(batch, 10)) / 100) : (batch ?? hosts);
    return Math.max(1, wanted);
}

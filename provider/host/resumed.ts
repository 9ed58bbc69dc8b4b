/** Bytes from which on what has arrived of a content is kept when the rest does not come; the same as `LEAST` of agent/partial.py. */
export const RESUMED = 4 << 20;

/** A content of which a host has the first `from` bytes already. */
export interface Rest {
    sha256: string;
    size: number;
    from: number;
    private?: boolean;
}

/** What `store.missing` says. `begun`: of contents that are missing, how many bytes had arrived before a cut. */
export interface Missing {
    missing: string[];
    begun?: Record<string, number>;
}

/** What of some contents is still to be sent. */
export function restOf<T extends { sha256: string; size: number }>(contents: T[], { begun }: Missing): (T & Rest)[] {
    return contents.map((content) => ({ ...content, from: begun?.[content.sha256] ?? 0 }));
}

/** Bytes that are still to be sent. */
export function sizeOf(rest: Rest[]): number {
    return rest.reduce((sum, { size, from }) => sum + size - from, 0);
}

/** How `store.put` is told of contents. */
export function announced(rest: Rest[]): (Omit<Rest, "from"> & Partial<Rest>)[] {
    return rest.map(({ sha256, size, from, private: sealed }) => ({
        sha256,
        size,
        ...(from > 0 && { from }),
        ...(sealed && { private: true }),
    }));
}

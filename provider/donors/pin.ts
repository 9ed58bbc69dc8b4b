import type { Connection } from "../connection";

/** One distribution as it was taken from a donor. */
export interface Pin {
    /** As its metadata says, with the local label. */
    version: string;
    /** sha256 of its listing: each file's path, mode and sha256. */
    digest: string;
    /** What a stat said of its files on the donor: as long as it is the same, nothing is hashed again. */
    stamp: string;
    /** Wheel tags that bind it. */
    tags: string[];
}

/** Distribution => what was taken. */
export type Taken = Record<string, Pin>;

/** Donor (`ct129:/root/ml-env`, or a path on the same host) => what was taken of it. */
export type Pins = Record<string, Taken>;

/** A venv that distributions are taken from. */
export interface Donor {
    /** The host that it lies on. */
    connection: Connection;
    /** Absolute path there. */
    venv: string;
}

/** How messages and pins name a donor. `own`: it lies on the host that takes from it. */
export function donorName({ connection, venv }: Donor, own: boolean): string {
    return own ? venv : `${connection.name}:${venv}`;
}

/** Those of some names that a name or pattern such as `nvidia-*` means. */
function matching(pattern: string, names: string[]): string[] {
    const words = pattern
        .toLowerCase()
        .replace(/[-_.]+/g, "-")
        .replace(/[\\^$+()[\]{}|]/g, "\\$&")
        .replaceAll("*", ".*")
        .replaceAll("?", ".");
    const form = new RegExp(`^${words}$`);
    return names.filter((name) => form.test(name));
}

/** What all of these patterns mean among what was taken; undefined when one of them means nothing. */
export function takenOf(taken: Taken | undefined, patterns: string[]): Taken | undefined {
    const names = Object.keys(taken ?? {});
    const found = patterns.map((pattern) => matching(pattern, names));
    if (taken === undefined || found.some((some) => some.length === 0)) {
        return undefined;
    }
    return Object.fromEntries([...new Set(found.flat())].sort().map((name) => [name, taken[name]]));
}

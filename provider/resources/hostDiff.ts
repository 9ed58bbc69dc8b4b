import type { Exchanged, FileDrift } from "../host/facts";
import { type Host, HostError } from "../host/host";
import { mostLines } from "../told";
import type { TextChange } from "./udiff";

/** More text than this is not sent for a look at what it would change. */
const MOST_TEXT = 1 << 20;

/** A patch as the host is asked about it. */
export interface TriedPatch {
    target: { module: string } | { path: string };
    kind: "file" | "diff";
    text: string;
    pre: string | null;
}

/** What one file would become, or was made as; a patch that does not fit says why. */
export type Difference = TextChange | { path: string; problem: string };

/** What the host says of patches that are not staged yet, and of files that were edited there; undefined = it cannot tell. */
export interface HostDiff {
    patches: (Difference | undefined)[];
    files: (Difference | undefined)[];
    /** What was changed in the release that was named; empty when none was. */
    drift: FileDrift[];
    /** The distributions that were exchanged there. */
    exchanged: Record<string, Exchanged>;
}

/**
 * Asks the host, line by line, what patches would change in a venv's files, and what was edited in its release: the wanted one, or
 * the one that is named.
 */
export async function hostDiff(
    host: Host,
    root: string,
    venv: string,
    { patches = [], files = [], release }: { patches?: TriedPatch[]; files?: string[]; release?: string },
): Promise<HostDiff> {
    const size = patches.reduce((sum, { text }) => sum + text.length, 0);
    const none = { drift: [], exchanged: {} };
    const nothing = { patches: patches.map(() => undefined), files: files.map(() => undefined), ...none };
    if (size > MOST_TEXT) {
        return nothing;
    }
    const lines = Math.min(mostLines(), MOST_TEXT);
    const args = { root, venv, patches, files, lines, ...(release && { release }) };
    try {
        const told = await host.call<Told>("venv.diff", args);
        return {
            patches: told.patches.map(asDifference),
            files: told.files.map(asDifference),
            drift: told.drift ?? [],
            exchanged: told.exchanged ?? {},
        };
    } catch (error) {
        if (error instanceof HostError && error.report.code === "corrupt") {
            return nothing; // the look tells of the file, and what is to change is known without it
        }
        throw error;
    }
}

type Given = { path: string; problem?: string; added: number; removed: number; lines: string[]; more: number };
type Told = Record<"patches" | "files", (Given | null)[]> & {
    drift?: HostDiff["drift"] | null;
    exchanged?: HostDiff["exchanged"] | null;
};

function asDifference(given: Given | null): Difference | undefined {
    if (given === null) {
        return undefined;
    }
    const { path, problem, added, removed, lines, more } = given;
    return problem === undefined ? { name: path, added, removed, lines, more } : { path, problem };
}

import { counted } from "../counted";
import type { ReleaseFacts, TreeDriftKind } from "../host/facts";
import { normalName } from "./content";

const MOST_FILES = 20;
const WORDS: Record<TreeDriftKind, string> = {
    edited: "edited on the host",
    missing: "missing",
    extra: "added on the host",
};

/** What is not as it was made, in the form in which the state shows it. */
export interface VenvDrift {
    /** The release's id, with what is wrong with it as a whole. */
    release: string;
    packages: Record<string, string>;
    files: Record<string, string>;
}

/** Names what people did to a release: distributions that came or went, files that were edited; many are counted by directory. */
export function driftOf(made: ReleaseFacts | undefined, release: string): VenvDrift {
    if (made === undefined) {
        return { release: release === "" ? "" : `${release} (missing)`, packages: {}, files: {} };
    }
    const packages = packageDrift(made);
    const files = made.drift.filter(({ path }) => !path.includes(".dist-info/"));
    const shown = files.length <= MOST_FILES ? files.map(({ path, kind }) => [path, WORDS[kind]]) : byDirectory(files);
    const beyond = made.driftCount - made.drift.length;
    return {
        release: made.complete ? release : `${release} (incomplete)`,
        packages,
        files: { ...Object.fromEntries(shown), ...(beyond > 0 ? { "…": counted(beyond, "more file") } : {}) },
    };
}

/** Files by the names that patches of them have, so that a patched file is one line whoever changed it. */
export function asLabelled(files: Record<string, string>, labels: Record<string, string>): Record<string, string> {
    return Object.fromEntries(
        Object.entries(files).map(([path, word]) => {
            return [Object.hasOwn(labels, labelOf(path)) ? labelOf(path) : path, word];
        }),
    );
}

/** The file that a label means, among those of a release. */
export function pathOf(label: string, paths: string[]): string {
    return paths.find((path) => path === label || labelOf(path) === label) ?? label.replace(/^module:/, "");
}

function labelOf(path: string): string {
    return `module:${path.replace(/(\/__init__)?\.py$/, "").replaceAll("/", ".")}`;
}

/** A distribution whose metadata came, went or was edited: pip was here. */
function packageDrift(made: ReleaseFacts): Record<string, string> {
    const packages: Record<string, string> = {};
    for (const { path, kind } of made.drift) {
        const match = /(?:^|\/)([^/]+)-([^-/]+)\.dist-info\/METADATA$/.exec(path);
        if (match === null) {
            continue;
        }
        const name = normalName(match[1]);
        packages[name] = made.packages[name] ?? (kind === "missing" ? "missing" : match[2]);
    }
    return packages;
}

function byDirectory(files: { path: string; kind: TreeDriftKind }[]): [string, string][] {
    const counts = new Map<string, number>();
    for (const { path, kind } of files) {
        const key = `${path.split("/").slice(0, -1).join("/")}/\0${WORDS[kind]}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const grouped = new Map<string, string[]>();
    for (const [key, count] of counts) {
        const [directory, word] = key.split("\0");
        grouped.set(directory, [...(grouped.get(directory) ?? []), `${count} ${word}`]);
    }
    return [...grouped].map(([directory, words]) => [directory, words.join(", ")]);
}

import { counted } from "../counted";
import type { Exchanged, FileDrift, ReleaseFacts, TreeDriftKind } from "../host/facts";
import { fromTo } from "../told";
import { normalName } from "./distributionName";

const MOST_FILES = 20;
const OTHERS = 2;
const OF_SGLANG = /(^|\/)sglang\//;
const WORDS: Record<TreeDriftKind, string> = { edited: "edited", missing: "missing", extra: "added" };
const BY_HAND = " on the host";

/** What is not as it was made, in the form in which the state shows it. */
export interface VenvDrift {
    /** The release's id, with what is wrong with it as a whole. */
    release: string;
    packages: Record<string, string>;
    files: Record<string, string>;
}

/**
 * Names what people did to a release: distributions that came, went or were exchanged, with all that came of it; patched files and
 * those of sglang, each by name; other files, counted by directory when they are many.
 */
export function driftOf(made: ReleaseFacts | undefined, release: string): VenvDrift {
    if (made === undefined) {
        return { release: release === "" ? "" : `${release} (missing)`, packages: {}, files: {} };
    }
    const exchanged = Object.entries(made.exchanged).map(([name, { now }]) => [name, now ?? "missing"]);
    const files = made.drift.filter(({ path }) => !path.includes(".dist-info/"));
    const isNamed = ({ path }: FileDrift) => rankOf(path, made) < OTHERS;
    const [named, others] = [files.filter(isNamed), files.filter((one) => !isNamed(one))];
    const shown = [...named.map(byName), ...(others.length <= MOST_FILES ? others.map(byName) : byDirectory(others))];
    const beyond = made.driftCount - made.drift.length;
    return {
        release: made.complete ? release : `${release} (incomplete)`,
        packages: { ...packageDrift(made), ...Object.fromEntries(exchanged) },
        files: { ...Object.fromEntries(shown), ...(beyond > 0 ? { "…": counted(beyond, "more file") } : {}) },
    };
}

/** What matters most comes first: 0 = a patched file, 1 = another one of sglang, 2 = the rest. */
export function rankOf(path: string, made: ReleaseFacts | undefined): number {
    return Object.hasOwn(made?.located ?? {}, path) ? 0 : OF_SGLANG.test(path) ? 1 : OTHERS;
}

/** What was done to a file, in a word: `edited`, `missing`, `added`, or `mode 644 → 600`. */
export function wordOf({ kind, mode }: FileDrift): string {
    return mode === undefined ? WORDS[kind] : `mode ${mode}`;
}

/** What a state says of a file, without saying again where that was. */
export function briefly(word: string): string {
    return word.endsWith(BY_HAND) ? word.slice(0, -BY_HAND.length) : word;
}

/** A distribution that was exchanged, in words: `1.0 → 2.0, 5 files`. */
export function exchangeOf({ was, now, files }: Exchanged): string {
    const many = files === 0 ? "" : `, ${counted(files, "file")}`;
    if (was === null || now === null) {
        return `${now === null ? `${was} removed` : `${now} added`}${many}`;
    }
    return `${was === now ? `${now} installed again` : fromTo(was, now)}${many}`;
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

function byName(file: FileDrift): [string, string] {
    const word = wordOf(file);
    return [file.path, word === "missing" ? word : word + BY_HAND];
}

/** Counts by directory. A file that lies in none lies in site-packages itself. */
function byDirectory(files: FileDrift[]): [string, string][] {
    const kinds = Object.keys(WORDS) as TreeDriftKind[];
    const grouped = new Map<string, FileDrift[]>();
    for (const file of files) {
        const directory = file.path.includes("/") ? file.path.replace(/[^/]*$/, "") : "site-packages/";
        grouped.set(directory, [...(grouped.get(directory) ?? []), file]);
    }
    return [...grouped].map(([directory, within]) => {
        const counts = kinds.map((kind) => [within.filter((one) => one.kind === kind).length, WORDS[kind]] as const);
        const words = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
        return [directory, words.join(", ") + BY_HAND];
    });
}

import { cut, mostLines } from "../told";

/** What `venv.make` answers, as far as a person is told of it. */
export interface Made {
    made: boolean;
    /** What the launched package requires and the base never had, a sentence each. */
    notes: string[];
    /** Files that several distributions own, each with other bytes; `bytes`: whose are there, by hash, "" = nobody's. */
    shared: { path: string; owners: string[]; bytes: string }[];
    /** Patched files that were so already. */
    applied?: string[];
    /** Files of patches that the venv had not: new modules, or names that are wrong. */
    added?: string[];
    /** What the overlays replaced besides what they name: distributions whose packages they bring under another name. */
    replaced?: string[];
    /** Distributions of an adopted base whose files are not what their RECORD says: how many, and the first by path. */
    foreign?: Record<string, { files: number; first: string[] }>;
    /** What interrupted installs left in an adopted base, a sentence each. */
    leftovers?: string[];
}

/**
 * What is no error and may explain one later: what SGLang misses in its base, files that two distributions claim, and files that
 * somebody edited before the base was adopted (or that a wheel lists wrongly, which looks the same). `kept`: path on the host
 * of the file that has all notes.
 */
export function tellMade(
    { notes, shared, replaced = [], applied = [], added = [], foreign = {}, leftovers = [] }: Omit<Made, "made">,
    kept: string,
): string[] {
    const owned = new Map<string, string[]>();
    for (const { path, owners, bytes } of shared) {
        const key = `${owners.join(" and ")}; the bytes are ${bytes === "" ? "those of none of them" : `those of ${bytes}`}`;
        owned.set(key, [...(owned.get(key) ?? []), path]);
    }
    const files = [...owned].map(([key, paths]) => `${paths[0]}${more(paths.length - 1)}: ${key}`);
    const edited = Object.entries(foreign).map(([name, { files, first }]) => `${name}: ${first[0]}${more(files - 1)}`);
    return [
        ...(edited.length === 0
            ? []
            : [
                  message(
                      "files of the adopted base that are not what their wheels say; they are kept as they are",
                      edited,
                  ),
              ]),
        ...(leftovers.length === 0
            ? []
            : [message("left-overs in the adopted base; what no overlay replaces is kept", leftovers)]),
        ...(notes.length === 0 ? [] : [neverMet(notes, kept)]),
        ...replaced,
        ...(applied.length === 0
            ? []
            : [message("patches that the base has already; these files stay as they are", applied)]),
        ...(added.length === 0
            ? []
            : [
                  message(
                      "files that patches add, as the venv has none of these names; if that is not meant, correct `module` or `path`",
                      added,
                  ),
              ]),
        ...(files.length === 0 ? [] : [message("files that several distributions own", files)]),
    ];
}

/** One line, as adopted venvs lack dozens, most of them for other hosts. */
function neverMet(notes: string[], kept: string): string {
    const count = notes.length === 1 ? "a requirement" : `${notes.length} requirements`;
    const where = notes.length === 1 ? "" : `; all stand under \`notes\` in ${kept} on the host`;
    return `${count} that the base never met: ${notes[0]}${more(notes.length - 1, ",")}${where}`;
}

function more(count: number, pause = ""): string {
    return count === 0 ? "" : `${pause} and ${count} more`;
}

function message(sentence: string, lines: string[]): string {
    return [`${sentence}:`, ...cut(lines, mostLines()).map((line) => `  ${line}`)].join("\n");
}

import { cut, mostLines } from "../told";

/** What `venv.make` answers, as far as a person is told of it. */
export interface Made {
    made: boolean;
    /** What the launched package requires and the base never had, a sentence each. */
    notes: string[];
    /** Files that two distributions own. */
    shared: { path: string; owners: string[]; bytes: string }[];
    /** Distributions of an adopted base whose files are not what their RECORD says: how many, and the first by path. */
    foreign?: Record<string, { files: number; first: string[] }>;
}

/**
 * What is no error and may explain one later: what SGLang misses in its base, files that two distributions claim, and files that
 * somebody edited before the base was adopted (or that a wheel lists wrongly, which looks the same). `kept`: path on the host
 * of the file that has all notes.
 */
export function tellMade(
    { notes, shared, foreign = {} }: Pick<Made, "notes" | "shared" | "foreign">,
    kept: string,
): string[] {
    const owners = new Map<string, string[]>();
    for (const { path, owners: names } of shared) {
        const key = names.join(" and ");
        owners.set(key, [...(owners.get(key) ?? []), path]);
    }
    const files = [...owners].map(([names, paths]) => `${names} both own ${paths[0]}${more(paths.length - 1)}`);
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
        ...(notes.length === 0 ? [] : [neverMet(notes, kept)]),
        ...(files.length === 0 ? [] : [message("files of two distributions; the later one's are there", files)]),
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

import { structuredPatch } from "diff";
import { cut, mostLines } from "../told";

/** Beyond this many changed lines the search for the smallest difference costs more than it tells. */
const MOST_EDITS = 4000;

const HUNK = /^@@ -\d+(,\d+)? \+\d+(,\d+)? @@/;

export interface TextChange {
    name: string;
    added: number;
    removed: number;
    /** Hunks of a unified diff, without the file header. */
    lines: string[];
    /** Lines that were left out already. */
    more: number;
}

/** What changed in one text, as a unified diff. */
export function textChange(name: string, before: string, after: string): TextChange {
    const found = structuredPatch(name, name, before, after, undefined, undefined, {
        context: 3,
        maxEditLength: MOST_EDITS,
    });
    const lines = (found?.hunks ?? []).flatMap((hunk) => [
        `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`,
        ...hunk.lines,
    ]);
    return found === undefined
        ? { name, added: after.split("\n").length, removed: before.split("\n").length, lines: ["(rewritten)"], more: 0 }
        : counted(name, lines);
}

/** A unified diff that the user wrote, to be shown as it is. */
export function givenDiff(name: string, diff: string): TextChange {
    const lines = diff.trimEnd().split("\n");
    const from = lines.findIndex((line) => line.startsWith("@@"));
    return counted(name, from < 0 ? lines : lines.slice(from));
}

/** Why a text cannot be the unified diff of one file; undefined when it may be one, whether or not it applies. */
export function notADiff(text: string): string | undefined {
    const lines = text.split("\n");
    if (!lines.some((line) => HUNK.test(line))) {
        return `found no hunk (\`@@ -1,3 +1,4 @@\`), expected a unified diff; make it with \`diff -u\` or \`git diff\`, or give the file whole under \`file\``;
    }
    const files = lines.filter((line, at) => line.startsWith("--- ") && lines[at + 1]?.startsWith("+++ ")).length;
    return files > 1
        ? `found a diff of ${files} files, expected one of this file alone; declare a patch for each`
        : undefined;
}

/** `sglang/srt/x.py +1 -1`; of one that changes nothing, that the file is so already. */
export function countsOf({ name, added, removed, lines }: TextChange): string {
    return lines.length === 0 ? `${name} already applied` : `${name} +${added} -${removed}`;
}

/** The diffs below each other, each headed by its file when there are several, cut. */
export function diffLines(changes: TextChange[], label = ""): string[] {
    const headed = changes.length > 1 || label !== "";
    const lines = changes.flatMap(({ name, lines: own }) => [...(headed ? [`--- ${name}${label}`] : []), ...own]);
    const beyond = changes.reduce((sum, { more }) => sum + more, 0);
    return cut(lines, mostLines(), beyond);
}

function counted(name: string, lines: string[]): TextChange {
    const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
    return { name, added: count("+"), removed: count("-"), lines, more: 0 };
}

import { structuredPatch } from "diff";

const MOST_LINES = 80;
/** Beyond this many changed lines the search for the smallest difference costs more than it tells. */
const MOST_EDITS = 4000;

export interface TextChange {
    name: string;
    added: number;
    removed: number;
    /** Hunks of a unified diff, without the file header. */
    lines: string[];
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
        ? { name, added: after.split("\n").length, removed: before.split("\n").length, lines: ["(rewritten)"] }
        : counted(name, lines);
}

/** A unified diff that the user wrote, to be shown as it is. */
export function givenDiff(name: string, diff: string): TextChange {
    const lines = diff.trimEnd().split("\n");
    const from = lines.findIndex((line) => line.startsWith("@@"));
    return counted(name, from < 0 ? lines : lines.slice(from));
}

/** One message: a sentence with the counts first, as some displays show no more, then the diffs, cut. */
export function describeChanges(changes: TextChange[]): string {
    const sentence = changes.map(({ name, added, removed }) => `${name}: +${added} -${removed}`).join(", ");
    const lines = changes.flatMap((change) => [...(changes.length > 1 ? [`--- ${change.name}`] : []), ...change.lines]);
    const rest = lines.length - MOST_LINES;
    return [sentence, ...lines.slice(0, MOST_LINES), ...(rest > 0 ? [`… ${rest} more lines`] : [])].join("\n");
}

function counted(name: string, lines: string[]): TextChange {
    const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
    return { name, added: count("+"), removed: count("-"), lines };
}

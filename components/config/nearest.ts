/** The end of a sentence about an unknown word: the known one that was meant, else what there is to choose from. */
export function suggestion(word: string, known: Iterable<string>): string {
    const names = [...known];
    const near = nearest(word, names);
    if (near !== undefined) {
        return `; did you mean \`${near}\`?`;
    }
    return names.length > 0 && names.length <= 12
        ? `; known here: ${names.map((name) => `\`${name}\``).join(", ")}`
        : "";
}

function nearest(word: string, known: string[]): string | undefined {
    const limit = Math.max(2, Math.floor(word.length / 3));
    const ranked = known
        .map((name) => ({ name, away: edits(word.toLowerCase(), name.toLowerCase()) }))
        .sort((a, b) => a.away - b.away);
    const best = ranked[0];
    return best !== undefined && best.away <= Math.min(limit, word.length - 1, best.name.length - 1)
        ? best.name
        : undefined;
}

/** Levenshtein's distance. */
function edits(a: string, b: string): number {
    let row = Array.from({ length: b.length + 1 }, (_, at) => at);
    for (let i = 1; i <= a.length; i++) {
        const next = [i];
        for (let j = 1; j <= b.length; j++) {
            next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
        }
        row = next;
    }
    return row[b.length];
}

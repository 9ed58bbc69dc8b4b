/** The known name that is nearest to a wrong one, when it is near enough to be meant. */
export function nearest(wrong: string, known: Iterable<string>): string | undefined {
    const limit = Math.max(2, Math.floor(wrong.length / 3));
    const ranked = [...known]
        .map((name) => ({ name, away: distance(wrong.toLowerCase(), name.toLowerCase()) }))
        .sort((a, b) => a.away - b.away);
    const best = ranked[0];
    return best !== undefined && best.away <= Math.min(limit, wrong.length - 1, best.name.length - 1)
        ? best.name
        : undefined;
}

/** Levenshtein's distance. */
function distance(a: string, b: string): number {
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

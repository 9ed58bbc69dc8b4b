import { readFile } from "node:fs/promises";

/** The mode of a link in a listing. */
const LINK = "120000";

/** One file that a listing names. `place`: where it lies in a staged tree; a byte of a name that is no UTF-8 as Python has it, a lone surrogate. */
export interface Listed {
    place: string;
    mode: string;
    size: number;
    sha256: string;
}

/** The files of a listing (`agent/donor/listing.py`), links left out: they travel in it. */
export async function readListing(path: string): Promise<Listed[]> {
    const files: Listed[] = [];
    let first = true;
    // Not by readline: it takes characters of names for ends of lines.
    for (const line of (await readFile(path, "utf8")).split("\n")) {
        const [mode = "", size = "", sha256 = "", place = ""] = line.split("\t");
        if (!first && mode !== LINK && line !== "") {
            files.push({ place: unescaped(place), mode, size: Number(size), sha256 });
        }
        first = false;
    }
    return files;
}

/** How many files two listings have different; undefined when one of them is not there any more. */
export async function filesBetween(before: string, after: string): Promise<number | undefined> {
    const [old, now] = await Promise.all([before, after].map((path) => readFile(path, "utf8").catch(() => undefined)));
    if (old === undefined || now === undefined) {
        return undefined;
    }
    const [a, b] = [old, now].map(
        (text) =>
            new Map(
                text
                    .split("\n")
                    .slice(1, -1)
                    .map((line) => [placeOf(line), line]),
            ),
    );
    return [...new Set([...a.keys(), ...b.keys()])].filter((place) => a.get(place) !== b.get(place)).length;
}

function placeOf(line: string): string {
    return line.slice(line.lastIndexOf("\t") + 1);
}

/** The inverse of how `agent/donor/listing.py` escapes. */
function unescaped(place: string): string {
    const letters: Record<string, string> = { t: "\t", n: "\n", r: "\r" };
    const plain = (_: string, byte: string | undefined, letter: string) =>
        byte === undefined ? (letters[letter] ?? letter) : String.fromCharCode(0xdc00 + Number.parseInt(byte, 16));
    return place.includes("\\") ? place.replace(/\\(?:x([0-9a-f]{2})|(.))/g, plain) : place;
}

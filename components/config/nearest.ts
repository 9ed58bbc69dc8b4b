import { nearest } from "../../provider/check/nearest";

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

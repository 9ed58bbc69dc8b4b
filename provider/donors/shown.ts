import type { Seen } from "../seen";
import type { Pins } from "./pin";

/** Notes what donors had when a preview, or the change after it, asked them. */
export function noteDonors(seen: Seen, urn: string, inputs: object): void {
    const { pins } = inputs as { pins?: Pins };
    if (pins !== undefined) {
        const digests = Object.entries(pins).map(([donor, taken]) => [
            donor,
            Object.fromEntries(Object.entries(taken).map(([name, { digest }]) => [name, digest])),
        ]);
        seen.note(ofDonors(urn), { owner: "donors", ...Object.fromEntries(digests) });
    }
}

/** What donors have otherwise now than the preview of this command was told; nothing when there was none. */
export function movedDonors(seen: Seen, urn: string): string[] {
    return seen.moved(ofDonors(urn));
}

function ofDonors(urn: string): string {
    return `${urn} donors`;
}

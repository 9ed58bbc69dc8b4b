import type { Meter } from "./meter";

/** Bytes that are sent together at least: many small files go as few pieces. */
export const PIECE = 1 << 20;

/** The same bytes in pieces that are worth a frame each, counted as they go. */
export async function* gathered(pieces: AsyncIterable<Buffer>, meter: Meter): AsyncGenerator<Buffer> {
    let kept: Buffer[] = [];
    let length = 0;
    for await (const piece of pieces) {
        kept.push(piece);
        length += piece.length;
        if (length >= PIECE) {
            meter.add(length);
            yield kept.length === 1 ? piece : Buffer.concat(kept);
            [kept, length] = [[], 0];
        }
    }
    if (length > 0) {
        meter.add(length);
        yield Buffer.concat(kept);
    }
}

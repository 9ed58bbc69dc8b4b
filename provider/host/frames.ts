/** Frames on the wire: two lengths (uint32, big endian), a JSON text, a body. See docs/protocol.md. */

/** The largest body of one frame; a longer one comes as several. */
export const CHUNK = 1 << 20;

/** Larger than any frame of ours: the two ends have lost step. */
const LARGEST_HEADER = 64 * CHUNK;

export interface Frame {
    header: Record<string, unknown>;
    body: Buffer;
}

/** The beginning of a frame, which its body follows as it is: a copy of each megabyte would cost more than its way. */
export function encodeHead(header: Record<string, unknown>, size: number): Buffer {
    const text = Buffer.from(JSON.stringify(header), "utf8");
    const head = Buffer.alloc(8);
    head.writeUInt32BE(text.length, 0);
    head.writeUInt32BE(size, 4);
    return Buffer.concat([head, text]);
}

export function encodeFrame(header: Record<string, unknown>, body: Uint8Array = Buffer.alloc(0)): Buffer {
    return Buffer.concat([encodeHead(header, body.length), body]);
}

/** Cuts a stream into frames, after whatever noise stands before the line that says the agent is ready. */
export class FrameReader {
    private kept: Buffer[] = [];
    private length = 0;
    private started = false;
    private readonly ready: Buffer;
    /** The body of a reply that is being handed on in the pieces in which it comes. */
    private passing: { header: Record<string, unknown>; left: number } | undefined;

    constructor(marker: string) {
        this.ready = Buffer.from(`\n@sglang-ready ${marker}\n`, "latin1");
    }

    /** Whether the agent has said that it is ready. */
    get isReady(): boolean {
        return this.started;
    }

    /** Takes the next bytes of the stream and gives the frames that they complete. Throws when they cannot be frames. */
    push(chunk: Buffer): Frame[] {
        this.kept.push(chunk);
        this.length += chunk.length;
        if (!this.started && !this.skipNoise()) {
            return [];
        }
        const frames: Frame[] = [];
        for (let frame = this.next(); frame !== undefined; frame = this.next()) {
            frames.push(frame);
        }
        return frames;
    }

    private skipNoise(): boolean {
        const seen = Buffer.concat(this.kept);
        const at = seen.indexOf(this.ready);
        this.started = at >= 0;
        // Of noise only what may be the beginning of the line is worth keeping.
        const rest = at >= 0 ? seen.subarray(at + this.ready.length) : seen.subarray(-this.ready.length);
        this.kept = rest.length > 0 ? [rest] : [];
        this.length = rest.length;
        return this.started;
    }

    private next(): Frame | undefined {
        if (this.passing !== undefined) {
            return this.pass(this.passing);
        }
        if (this.length < 8) {
            return undefined;
        }
        const head = this.gather(8);
        const [text, body] = [head.readUInt32BE(0), head.readUInt32BE(4)];
        if (text > LARGEST_HEADER || body > CHUNK) {
            throw new Error(`The agent's stream is broken: a frame of ${text} + ${body} bytes.`);
        }
        const [start, end] = [8 + text, 8 + text + body];
        if (this.length < start) {
            return undefined;
        }
        const begun = this.gather(start);
        const header = JSON.parse(begun.toString("utf8", 8, start)) as Record<string, unknown>;
        if (header.body === true && body > 0) {
            this.keep(start);
            this.passing = { header, left: body };
            return this.pass(this.passing);
        }
        if (this.length < end) {
            return undefined;
        }
        const all = this.gather(end);
        this.keep(end);
        return { header, body: all.subarray(start, end) };
    }

    /** What is there of a reply's body, uncopied. */
    private pass(passing: { header: Record<string, unknown>; left: number }): Frame | undefined {
        const first = this.kept[0];
        if (first === undefined) {
            return undefined;
        }
        const body = first.subarray(0, passing.left);
        passing.left -= body.length;
        if (passing.left === 0) {
            this.passing = undefined;
        }
        this.keep(body.length);
        return { header: passing.header, body };
    }

    /** At least `size` bytes in one piece. Pieces are joined only when a frame needs it, as a look comes in many of them. */
    private gather(size: number): Buffer {
        const first = this.kept[0];
        if (first !== undefined && first.length >= size) {
            return first;
        }
        this.kept = this.length > 0 ? [Buffer.concat(this.kept)] : [];
        return this.kept[0] ?? Buffer.alloc(0);
    }

    /** Drops so many bytes of the first piece. */
    private keep(used: number): void {
        const rest = (this.kept.shift() as Buffer).subarray(used);
        this.length -= used;
        if (rest.length > 0) {
            this.kept.unshift(rest);
        }
    }
}

/** Frames on the wire: two lengths (uint32, big endian), a JSON text, a body. See docs/protocol.md. */

/** The largest body of one frame; a longer one comes as several. */
export const CHUNK = 1 << 20;

/** Larger than any frame of ours: the two ends have lost step. */
const LARGEST_HEADER = 64 * CHUNK;

export interface Frame {
    header: Record<string, unknown>;
    body: Buffer;
}

export function encodeFrame(header: Record<string, unknown>, body: Uint8Array = Buffer.alloc(0)): Buffer {
    const text = Buffer.from(JSON.stringify(header), "utf8");
    const head = Buffer.alloc(8);
    head.writeUInt32BE(text.length, 0);
    head.writeUInt32BE(body.length, 4);
    return Buffer.concat([head, text, body]);
}

/** Cuts a stream into frames, after whatever noise stands before the line that says the agent is ready. */
export class FrameReader {
    private kept: Buffer[] = [];
    private length = 0;
    private started = false;
    private readonly ready: Buffer;

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
        this.keep(at >= 0 ? seen.subarray(at + this.ready.length) : seen.subarray(-this.ready.length));
        return this.started;
    }

    private next(): Frame | undefined {
        if (this.length < 8) {
            return undefined;
        }
        const head = this.gather(8);
        const [text, body] = [head.readUInt32BE(0), head.readUInt32BE(4)];
        if (text > LARGEST_HEADER || body > CHUNK) {
            throw new Error(`The agent's stream is broken: a frame of ${text} + ${body} bytes.`);
        }
        const end = 8 + text + body;
        if (this.length < end) {
            return undefined;
        }
        const all = this.gather(end);
        this.keep(all.subarray(end));
        return { header: JSON.parse(all.toString("utf8", 8, 8 + text)), body: all.subarray(8 + text, end) };
    }

    /** At least `size` bytes in one piece. Pieces are joined only when a frame needs it, as a look comes in many of them. */
    private gather(size: number): Buffer {
        const first = this.kept[0];
        if (first !== undefined && first.length >= size) {
            return first;
        }
        this.keep(Buffer.concat(this.kept));
        return this.kept[0] ?? Buffer.alloc(0);
    }

    private keep(rest: Buffer): void {
        this.kept = rest.length > 0 ? [rest] : [];
        this.length = rest.length;
    }
}

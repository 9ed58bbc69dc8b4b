import type { Readable, Writable } from "node:stream";
import { CHUNK, encodeHead } from "./frames";

/** Bytes that may be on their way to a host at a time: while it takes some, the next are got ready. */
const AHEAD = 4 << 20;

/** Sends a body of exactly `size` bytes as frames of one request, no faster than the host takes them; stops when told to. */
export async function sendBody(
    to: Writable,
    id: number,
    body: { size: number; stream: Readable },
    stopped: AbortSignal,
    sent: (bytes: number) => void,
): Promise<void> {
    let left = body.size;
    const way = new Way(to, stopped);
    for await (const data of body.stream) {
        const chunk = data as Buffer;
        for (let start = 0; start < chunk.length; start += CHUNK) {
            if (stopped.aborted) {
                return;
            }
            const part = chunk.subarray(start, start + CHUNK);
            left -= part.length;
            if (left < 0) {
                throw new Error(`more data than the ${body.size} bytes that were announced`);
            }
            const head = encodeHead({ id, body: true, more: left > 0 }, part.length);
            sent(head.length + part.length);
            await way.send(head, part);
        }
    }
    if (left > 0) {
        throw new Error(`${left} of the ${body.size} bytes that were announced are missing`);
    }
}

/** Counts what was handed to a stream and is not yet through. */
class Way {
    private full = 0;
    private go: (() => void) | undefined;

    constructor(
        private readonly to: Writable,
        stopped: AbortSignal,
    ) {
        stopped.addEventListener("abort", () => this.go?.(), { once: true });
    }

    /** Resolves when there is room for more. */
    async send(head: Buffer, part: Buffer): Promise<void> {
        this.full += part.length;
        this.to.cork();
        this.to.write(head);
        this.to.write(part, () => this.through(part.length));
        this.to.uncork();
        if (this.full > AHEAD) {
            await new Promise<void>((resolve) => {
                this.go = resolve;
            });
        }
    }

    private through(bytes: number): void {
        this.full -= bytes;
        if (this.full <= AHEAD) {
            this.go?.();
        }
    }
}

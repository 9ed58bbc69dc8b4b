import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { CHUNK, encodeHead } from "./frames";

/** Sends a body of exactly `size` bytes as frames of one request, no faster than the host takes them; stops when told to. */
export async function sendBody(
    to: Writable,
    id: number,
    body: { size: number; stream: Readable },
    stopped: AbortSignal,
    sent: (bytes: number) => void,
): Promise<void> {
    let left = body.size;
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
            to.cork();
            to.write(head);
            const taken = to.write(part);
            to.uncork();
            if (!taken) {
                await once(to, "drain", { signal: stopped }).catch(() => undefined);
            }
        }
    }
    if (left > 0) {
        throw new Error(`${left} of the ${body.size} bytes that were announced are missing`);
    }
}

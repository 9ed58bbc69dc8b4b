import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { counted } from "../counted";
import type { Content, Host, Progress } from "./host";

/** Megabytes between two lines of progress. */
const STEP = 8;

/** Sends what the store below `root` lacks, in two round trips: one asks what that is, one carries all of it. */
export async function sendContents(
    host: Pick<Host, "call">,
    root: string,
    contents: Content[],
    progress?: Progress,
    signal?: AbortSignal,
): Promise<void> {
    const wanted = new Map(contents.map((content) => [content.sha256, content]));
    if (wanted.size === 0) {
        return;
    }
    const { missing } = await host.call<{ missing: string[] }>(
        "store.missing",
        { root, sha256: [...wanted.keys()] },
        { progress, signal },
    );
    const lacking = missing.map((sha256) => wanted.get(sha256)).filter((content) => content !== undefined);
    if (lacking.length === 0) {
        return;
    }
    const size = lacking.reduce((sum, content) => sum + content.size, 0);
    const stream = Readable.from(bytesOf(lacking, size, progress), { objectMode: true, highWaterMark: 1 });
    const announced = lacking.map(({ sha256, size }) => ({ sha256, size }));
    await host.call("store.put", { root, contents: announced }, { progress, signal, body: { size, stream } });
}

async function* bytesOf(contents: Content[], size: number, progress?: Progress): AsyncGenerator<Buffer> {
    let sent = 0;
    let told = 0;
    for (const content of contents) {
        const pieces =
            "text" in content
                ? [Buffer.from(content.text, "utf8")]
                : createReadStream(content.path, { highWaterMark: 1 << 20 });
        for await (const piece of pieces) {
            yield piece as Buffer;
            sent += (piece as Buffer).length;
            if (sent - told >= STEP * 1e6) {
                told = sent;
                progress?.(`sending ${counted(contents.length, "file")}: ${megabytes(sent)} of ${megabytes(size)} MB`);
            }
        }
    }
}

function megabytes(bytes: number): string {
    return (bytes / 1e6).toFixed(0);
}

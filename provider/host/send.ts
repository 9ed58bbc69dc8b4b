import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { counted } from "../counted";
import { gathered, PIECE } from "./gathered";
import type { Content, Host, Progress } from "./host";
import { Meter } from "./meter";

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
    const meter = new Meter(counted(lacking.length, "file"), size, progress);
    const stream = Readable.from(gathered(bytesOf(lacking), meter), { objectMode: true, highWaterMark: 1 });
    const announced = lacking.map(({ sha256, size }) => ({ sha256, size }));
    await host.call("store.put", { root, contents: announced }, { progress, signal, body: { size, stream } });
}

async function* bytesOf(contents: Content[]): AsyncGenerator<Buffer> {
    for (const content of contents) {
        yield* piecesOf(content);
    }
}

/** A content piece by piece; a small file in one, as the buffers of a stream would cost more than its bytes. */
async function* piecesOf(content: Content): AsyncGenerator<Buffer> {
    if ("text" in content) {
        yield Buffer.from(content.text, "utf8");
    } else if (content.size <= PIECE) {
        yield await readFile(content.path);
    } else {
        yield* createReadStream(content.path, { highWaterMark: PIECE });
    }
}

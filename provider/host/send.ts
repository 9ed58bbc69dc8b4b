import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { counted } from "../counted";
import { gathered, PIECE } from "./gathered";
import type { Content, Host, Progress } from "./host";
import { Meter } from "./meter";
import { announced, type Missing, type Rest, restOf, sizeOf } from "./resumed";

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
    const answer = await host.call<Missing>(
        "store.missing",
        { root, sha256: [...wanted.keys()] },
        { progress, signal },
    );
    const lacking = answer.missing.map((sha256) => wanted.get(sha256)).filter((content) => content !== undefined);
    if (lacking.length === 0) {
        return;
    }
    const rest = restOf(lacking, answer);
    const size = sizeOf(rest);
    const meter = new Meter(counted(lacking.length, "file"), size, progress);
    const stream = Readable.from(gathered(bytesOf(rest), meter), { objectMode: true, highWaterMark: 1 });
    const args = { root, contents: announced(rest) };
    await host.call("store.put", args, { progress, signal, body: { size, stream } });
}

async function* bytesOf(contents: (Content & Rest)[]): AsyncGenerator<Buffer> {
    for (const content of contents) {
        yield* piecesOf(content);
    }
}

/** A content piece by piece; a small file in one, as the buffers of a stream would cost more than its bytes. */
async function* piecesOf(content: Content & Rest): AsyncGenerator<Buffer> {
    if ("text" in content) {
        yield Buffer.from(content.text, "utf8").subarray(content.from);
    } else if (content.size <= PIECE) {
        yield await readFile(content.path);
    } else {
        yield* createReadStream(content.path, { start: content.from, highWaterMark: PIECE });
    }
}

import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { counted } from "../counted";
import type { Content, Host, Progress } from "./host";

/** Megabytes between two lines of progress. */
const STEP = 8;

/** Bytes that are sent together at least: many small files go as few pieces. */
const PIECE = 1 << 20;

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
    let gathered: Buffer[] = [];
    let length = 0;
    const take = (): Buffer => {
        const all = Buffer.concat(gathered);
        gathered = [];
        length = 0;
        return all;
    };
    for (const content of contents) {
        for await (const piece of piecesOf(content)) {
            gathered.push(piece);
            length += piece.length;
            if (length < PIECE) {
                continue;
            }
            sent += length;
            yield take();
            if (sent - told >= STEP * 1e6) {
                told = sent;
                progress?.(`sending ${counted(contents.length, "file")}: ${megabytes(sent)} of ${megabytes(size)} MB`);
            }
        }
    }
    if (length > 0) {
        yield take();
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

function megabytes(bytes: number): string {
    return (bytes / 1e6).toFixed(0);
}

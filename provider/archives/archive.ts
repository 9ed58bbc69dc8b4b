import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import * as zlib from "node:zlib";
import { Parser, type ReadEntry } from "tar";
import { withoutAccounts } from "../accounts";
import type { Contents } from "../donors/contents";
import type { Progress } from "../host/host";
import { Unpacked } from "./unpacked";

/** One file of an archive, whose bytes are in the cache. */
export interface Packed {
    path: string;
    mode: "755" | "644";
    sha256: string;
    size: number;
}

const MEGABYTE = 1e6;

/** Whether an archive is named by a URL. */
export function isUrl(archive: string): boolean {
    return /^https?:\/\//.test(archive);
}

/** An archive's name for messages: without the user and password of a URL. */
export function named(archive: string): string {
    return isUrl(archive) ? withoutAccounts(archive) : archive;
}

/**
 * Unpacks an archive (`.tar.gz`, `.tar.zst`) into the cache, file by file while it is read: neither it nor what is in it is ever whole in
 * memory. Returns its own sha256 too. `signal` ends a download. Throws when something in it leads out of it.
 */
export async function unpack(
    archive: string,
    contents: Contents,
    progress?: Progress,
    signal?: AbortSignal,
): Promise<{ sha256: string; files: Packed[] }> {
    const hash = createHash("sha256");
    const unpacked = new Unpacked(contents);
    const parser = new Parser({ strict: true, onReadEntry: (entry: ReadEntry) => unpacked.take(entry) });
    parser.on("ignoredEntry", (entry: ReadEntry) => unpacked.refuse(entry));
    let ended = false;
    parser.on("eof", () => {
        ended = true;
    });
    const over = new Promise<void>((resolve, reject) => {
        parser.on("end", resolve);
        parser.on("error", reject);
    });
    over.catch(() => undefined);
    try {
        for await (const piece of await decompressed(
            counted(await opened(archive, signal), hash, named(archive), progress),
        )) {
            if (!parser.write(piece as Buffer)) {
                await Promise.race([once(parser, "drain"), over]);
            }
        }
        parser.end();
        await over;
        if (!ended) {
            // Neither zstd nor tar tells a cut between two files by itself.
            throw new Error(
                "its end is missing: it was cut, or has several zstd frames (pzstd); pack it again with tar",
            );
        }
        return { files: unpacked.files(), sha256: hash.digest("hex") };
    } catch (error) {
        throw new Error(`${named(archive)} cannot be unpacked: ${(error as Error).message}`, { cause: error });
    } finally {
        unpacked.drop();
    }
}

async function opened(archive: string, signal?: AbortSignal): Promise<AsyncIterable<Buffer>> {
    if (!isUrl(archive)) {
        return createReadStream(archive, { highWaterMark: 1 << 20 });
    }
    const url = new URL(archive);
    const account = [url.username, url.password].map(decodeURIComponent).join(":");
    // `fetch` takes no account within a URL, and would name it when it refuses.
    url.username = url.password = "";
    const headers = account === ":" ? {} : { authorization: `Basic ${Buffer.from(account).toString("base64")}` };
    const answer = await fetch(url, { signal, headers });
    if (!answer.ok || answer.body === null) {
        throw new Error(`it is answered with ${answer.status} ${answer.statusText}`);
    }
    return Readable.fromWeb(answer.body as import("node:stream/web").ReadableStream);
}

async function* counted(
    pieces: AsyncIterable<Buffer>,
    hash: ReturnType<typeof createHash>,
    archive: string,
    progress?: Progress,
): AsyncGenerator<Buffer> {
    let read = 0;
    for await (const piece of pieces) {
        hash.update(piece);
        read += piece.length;
        progress?.(`unpacking ${archive}: ${(read / MEGABYTE).toFixed(0)} MB`);
        yield piece;
    }
}

/** By its first bytes, not its name. The whole of it is read, also what follows the end of the compressed part: it is hashed. */
async function decompressed(pieces: AsyncGenerator<Buffer>): Promise<AsyncIterable<Buffer>> {
    const first = await pieces.next();
    const head = first.done ? Buffer.alloc(0) : first.value;
    const whole = Readable.from(rejoined(head, pieces));
    if (head[0] === 0x1f && head[1] === 0x8b) {
        return piped(whole, zlib.createGunzip());
    }
    if (head.length >= 4 && head.readUInt32LE(0) === 0xfd2fb528) {
        if (typeof zlib.createZstdDecompress !== "function") {
            throw new Error(`this Node (${process.version}) has no zstd; use 22.15 or later, or a .tar.gz`);
        }
        return piped(whole, zlib.createZstdDecompress());
    }
    throw new Error("it is neither gzip nor zstd");
}

async function* rejoined(head: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
    yield head;
    yield* rest;
}

function piped(from: Readable, through: zlib.Gunzip): AsyncIterable<Buffer> {
    from.on("error", (error) => through.destroy(error));
    return from.pipe(through);
}

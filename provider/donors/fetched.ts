import { createHash, type Hash } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { closeSync, openSync, read, readSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { promisify } from "node:util";
import { HostError } from "../host/host";
import type { Contents } from "./contents";

const PIECE = 1 << 20;
/** Bytes of a content that are kept in memory while it comes. */
const RECENT = 4 << 20;
const readFrom = promisify(read);

/** One content on its way into the cache. Who sends it on reads what is there of it already: a file of gigabytes is waited for by nobody. */
export class Fetched {
    /** Aborted without a reader to hear it, it must not end the process. */
    private readonly grown = new EventEmitter().setMaxListeners(0);
    private readonly recent = new Recent();
    private readonly hash: Hash = createHash("sha256");
    private readonly place: ReturnType<Contents["begin"]>;
    private descriptor: number | undefined;
    private written = 0;
    private path: string;
    private state: "coming" | "whole" | { failed: Error } = "coming";

    constructor(
        readonly sha256: string,
        readonly size: number,
        private readonly contents: Contents,
    ) {
        this.place = contents.begin(sha256);
        this.path = this.place.path;
    }

    /** Bytes that are still to come. */
    get left(): number {
        return this.size - this.written;
    }

    /** Takes the next bytes; the last ones complete it. Throws when the whole is not what it should be. */
    write(data: Buffer): void {
        this.descriptor ??= openSync(this.place.path, "wx", 0o600);
        this.hash.update(data);
        writeSync(this.descriptor, data);
        this.recent.add(this.written, data);
        this.written += data.length;
        if (this.left === 0) {
            this.complete();
        }
        this.grown.emit("grown");
    }

    /** Nothing more will come. */
    fail(error: Error): void {
        if (this.state === "coming") {
            this.close();
            this.place.drop();
            this.state = { failed: error };
            this.grown.emit("grown");
        }
    }

    /** Its bytes, as they come. */
    async *bytes(): AsyncGenerator<Buffer> {
        let file: number | undefined;
        let at = 0;
        try {
            while (at < this.size) {
                if (typeof this.state === "object") {
                    throw this.state.failed;
                }
                const fresh = this.recent.from(at);
                if (fresh !== undefined) {
                    at += fresh.length;
                    yield fresh;
                } else if (at === this.written) {
                    await once(this.grown, "grown");
                } else {
                    // At once: the file gets another name as soon as it is whole.
                    file ??= openSync(this.path, "r");
                    const most = Math.min(PIECE, this.written - at);
                    const { buffer, bytesRead } = await readFrom(file, Buffer.allocUnsafe(most), 0, most, at);
                    at += bytesRead;
                    yield buffer.subarray(0, bytesRead);
                }
            }
        } finally {
            if (file !== undefined) {
                closeSync(file);
            }
        }
    }

    private complete(): void {
        this.descriptor ??= openSync(this.place.path, "wx", 0o600);
        this.close();
        const found = this.hash.digest("hex");
        if (found !== this.sha256) {
            throw new HostError("donor", {
                code: "donor-changed",
                message: "the donor was changed while its files were fetched",
                found,
                expected: this.sha256,
                remedy: "run the command again: it looks at the donor anew",
            });
        }
        this.place.keep();
        this.path = this.contents.path(this.sha256);
        // Who is behind reads it from the disk: thousands of them in memory would be all of them.
        this.recent.clear();
        this.state = "whole";
    }

    private close(): void {
        if (this.descriptor !== undefined) {
            closeSync(this.descriptor);
            this.descriptor = undefined;
        }
    }
}

/** What came last, still in memory: who keeps step needs no look at the disk. */
class Recent {
    private pieces: { at: number; data: Buffer }[] = [];
    private size = 0;

    add(at: number, data: Buffer): void {
        this.pieces.push({ at, data });
        this.size += data.length;
        while (this.size > RECENT && this.pieces.length > 1) {
            this.size -= this.pieces.shift()?.data.length ?? 0;
        }
    }

    clear(): void {
        [this.pieces, this.size] = [[], 0];
    }

    /** The bytes from an offset to the end of their piece; undefined when they are not here. */
    from(offset: number): Buffer | undefined {
        for (let index = this.pieces.length - 1; index >= 0; index--) {
            const { at, data } = this.pieces[index];
            if (offset >= at) {
                return offset < at + data.length ? data.subarray(offset - at) : undefined;
            }
        }
        return undefined;
    }
}

/** The bytes of a content of the cache. */
export async function* cachedBytes(path: string, size: number): AsyncGenerator<Buffer> {
    if (size <= PIECE) {
        const descriptor = openSync(path, "r");
        try {
            const data = Buffer.allocUnsafe(size);
            yield data.subarray(0, readSync(descriptor, data, 0, size, 0));
        } finally {
            closeSync(descriptor);
        }
        return;
    }
    const file = await open(path);
    for await (const piece of file.createReadStream({ highWaterMark: PIECE })) {
        yield piece as Buffer;
    }
}

import { createHash, type Hash } from "node:crypto";
import { closeSync, openSync, read, readSync, statSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { promisify } from "node:util";
import { HostError } from "../host/host";
import { RESUMED } from "../host/resumed";
import type { Contents } from "./contents";
import { Recent } from "./recent";
import type { Unfinished } from "./unfinished";

const PIECE = 1 << 20;
const readFrom = promisify(read);

/** What is there of a content while its bytes come. */
interface Begun {
    place: Unfinished;
    hash: Hash;
    descriptor: number;
}

/** Who sends a content, and what it is there: for the error when it comes with other bytes. */
export interface Origin {
    host: string;
    where: string;
}

/** One content on its way into the cache. Who sends it on reads what is there of it already: a file of gigabytes is waited for by nobody. */
export class Fetched {
    private readonly recent = new Recent();
    /** Made when the first byte comes: thousands wait for theirs, and a hash for each of them would be megabytes. */
    private begun: Begun | undefined;
    private waiting: (() => void)[] = [];
    private written = 0;
    private path = "";
    private state: "coming" | "whole" | { failed: Error } = "coming";

    constructor(
        readonly sha256: string,
        readonly size: number,
        private readonly contents: Contents,
        private readonly origin: Origin,
    ) {}

    /** Bytes that are still to come. */
    get left(): number {
        return this.size - this.written;
    }

    /** Goes on with what an earlier run had of a large one when it was cut; how many bytes need not come again. */
    async resume(): Promise<number> {
        const place = this.size < RESUMED ? undefined : this.contents.resume(this.sha256);
        if (place === undefined) {
            return 0;
        }
        const size = statSync(place.path).size;
        const hash = createHash("sha256");
        for await (const piece of cachedBytes(place.path, size)) {
            hash.update(piece);
        }
        if (size > this.size || (size === this.size && hash.copy().digest("hex") !== this.sha256)) {
            place.drop();
            return 0;
        }
        this.begun = { place, hash, descriptor: openSync(place.path, "a", 0o600) };
        [this.path, this.written] = [place.path, size];
        if (this.left === 0) {
            this.complete(this.begun);
        }
        this.tell();
        return size;
    }

    /** Takes the next bytes; the last ones complete it. Throws when the whole is not what it should be. */
    write(data: Buffer): void {
        this.begun ??= this.begin();
        this.begun.hash.update(data);
        writeSync(this.begun.descriptor, data);
        this.recent.add(this.written, data);
        this.written += data.length;
        if (this.left === 0) {
            this.complete(this.begun);
        }
        this.tell();
    }

    /** Nothing more will come. */
    fail(error: Error): void {
        if (this.state !== "coming") {
            return;
        }
        this.state = { failed: error };
        if (this.begun !== undefined) {
            closeSync(this.begun.descriptor);
            this.written < RESUMED ? this.begun.place.drop() : this.begun.place.leave();
            this.begun = undefined;
        }
        this.tell();
    }

    /** Its bytes, as they come, from an offset on. */
    async *bytes(from = 0): AsyncGenerator<Buffer> {
        let file: number | undefined;
        let at = from;
        try {
            while (at < this.size) {
                if (typeof this.state === "object") {
                    throw this.state.failed;
                }
                const fresh = this.recent.from(at);
                if (fresh !== undefined) {
                    at += fresh.length;
                    yield fresh;
                } else if (at >= this.written) {
                    await new Promise<void>((resolve) => this.waiting.push(resolve));
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

    private begin(): Begun {
        const place = this.contents.begin(this.sha256);
        this.path = place.path;
        return { place, hash: createHash("sha256"), descriptor: openSync(place.path, "wx", 0o600) };
    }

    private complete({ place, hash, descriptor }: Begun): void {
        closeSync(descriptor);
        this.begun = undefined;
        const found = hash.digest("hex");
        if (found !== this.sha256) {
            place.drop();
            throw new HostError(this.origin.host, {
                code: "donor-changed",
                message: "the donor was changed while its files were fetched",
                where: this.origin.where,
                found,
                expected: this.sha256,
                remedy: "run the command again: it looks at the donor anew",
            });
        }
        place.keep();
        this.path = this.contents.path(this.sha256);
        // Who is behind reads it from the disk: thousands of them in memory would be all of them.
        this.recent.clear();
        this.state = "whole";
    }

    private tell(): void {
        const waiting = this.waiting;
        this.waiting = [];
        for (const go of waiting) {
            go();
        }
    }
}

/** The bytes of a content of the cache, from an offset on. */
export async function* cachedBytes(path: string, size: number, from = 0): AsyncGenerator<Buffer> {
    const left = size - from;
    if (left <= PIECE) {
        const descriptor = openSync(path, "r");
        try {
            const data = Buffer.allocUnsafe(left);
            yield data.subarray(0, readSync(descriptor, data, 0, left, from));
        } finally {
            closeSync(descriptor);
        }
        return;
    }
    const file = await open(path);
    for await (const piece of file.createReadStream({ start: from, highWaterMark: PIECE })) {
        yield piece as Buffer;
    }
}

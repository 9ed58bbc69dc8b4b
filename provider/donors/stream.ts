import { Writable } from "node:stream";
import type { CallOptions } from "../host/host";
import type { Contents } from "./contents";
import { cachedBytes, Fetched, type Origin } from "./fetched";

/** A content that is wanted, and where its source has it. */
export interface Wanted {
    sha256: string;
    size: number;
    place: string;
}

/** Asks a source for the bytes of contents, one after the other, each from its offset on. */
export type Ask = (wanted: (Wanted & { from: number })[], into: NonNullable<CallOptions["into"]>) => Promise<unknown>;

/** The contents of one source, read once however many hosts want them: into the cache, and on from there while they come. */
export class Stream {
    private readonly coming = new Map<string, Fetched>();
    private queue: Wanted[] = [];
    private running = false;
    /** Why the last of it did not come. */
    private failure: unknown;

    constructor(
        private readonly ask: Ask,
        private readonly contents: Contents,
        /** Bytes that were read from the source so far. */
        readonly counted: { read: number },
        private readonly origin: (wanted: Wanted) => Origin,
    ) {}

    /** Begins to fetch what is neither here nor on its way. */
    want(wanted: Wanted[]): void {
        for (const one of wanted) {
            if (!this.coming.has(one.sha256) && !this.contents.has(one.sha256, one.size)) {
                this.coming.set(one.sha256, new Fetched(one.sha256, one.size, this.contents, this.origin(one)));
                this.queue.push(one);
            }
        }
        if (!this.running && this.queue.length > 0) {
            void this.run();
        }
    }

    /** The bytes of a content that was wanted, from an offset on. */
    bytes({ sha256, size }: Wanted, from = 0): AsyncGenerator<Buffer> {
        const coming = this.coming.get(sha256);
        if (coming === undefined && !this.contents.has(sha256, size)) {
            throw this.failure ?? new Error(`nobody fetched ${sha256}`);
        }
        return coming?.bytes(from) ?? cachedBytes(this.contents.path(sha256), size, from);
    }

    private async run(): Promise<void> {
        this.running = true;
        while (this.queue.length > 0) {
            const batch = this.queue;
            this.queue = [];
            await this.fetch(batch);
        }
        this.running = false;
    }

    private async fetch(batch: Wanted[]): Promise<void> {
        const all = batch.map(({ sha256 }) => this.coming.get(sha256) as Fetched);
        let splitter: Splitter | undefined;
        try {
            const rest: (Wanted & { from: number })[] = [];
            for (const [at, one] of batch.entries()) {
                rest.push({ ...one, from: await all[at].resume() });
            }
            splitter = new Splitter(all, this.counted);
            const asked = rest.filter(({ size, from }) => from === 0 || from < size);
            if (asked.length > 0) {
                await this.ask(asked, splitter);
            }
            splitter.end();
            if (splitter.broken !== undefined) {
                throw splitter.broken;
            }
            if (all.some(({ left }) => left > 0)) {
                throw new Error("the donor sent less than it was asked for");
            }
        } catch (error) {
            this.failure = splitter?.broken ?? error;
            for (const one of all) {
                one.fail(this.failure as Error);
            }
        }
        for (const { sha256 } of batch) {
            this.coming.delete(sha256);
        }
    }
}

/** Cuts one stream of bytes into the contents that it is made of. After a fault it swallows the rest: the connection serves others too. */
class Splitter extends Writable {
    broken: Error | undefined;
    private at = 0;

    constructor(
        private readonly all: Fetched[],
        private readonly counted: { read: number },
    ) {
        super({ highWaterMark: 8 << 20 });
        this.skipWhole();
    }

    override _write(data: Buffer, _encoding: BufferEncoding, done: () => void): void {
        this.counted.read += data.length;
        try {
            for (let start = 0; start < data.length && this.broken === undefined; ) {
                const part = data.subarray(start, start + this.all[this.at].left);
                this.all[this.at].write(part);
                start += part.length;
                this.skipWhole();
            }
        } catch (error) {
            this.broken = error as Error;
        }
        done();
    }

    private skipWhole(): void {
        while (this.at < this.all.length && this.all[this.at].left === 0) {
            if (this.all[this.at].size === 0) {
                this.all[this.at].write(Buffer.alloc(0));
            }
            this.at++;
        }
    }
}

import { createHash, randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync, renameSync, rmSync, statSync, utimesSync, writeSync } from "node:fs";
import { open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { toolCache } from "../toolCache";
import { claimed, left, type Unfinished } from "./unfinished";

/** Days after which a content that nobody used goes. */
const MOST_DAYS = 30;
/** Gigabytes that stay, unless one run needs more at once. */
const MOST_GIGABYTES = 40;
/** Milliseconds after which a file of an unfinished write is nobody's. */
const STALE = 24 * 3_600_000;

/** A content that is written piece by piece. */
export interface Incoming {
    write: (piece: Buffer) => void;
    end: () => { sha256: string; size: number };
    drop: () => void;
}

/**
 * What was taken from donors, and unpacked of archives, kept on this machine by the sha256 of its bytes: `~/.cache/pulumi-sglang/contents`. So a donor may go, and
 * another host still gets what was taken. Bounded: what was not used for 30 days goes, and beyond 40 GB what was used longest ago.
 */
export class Contents {
    /** Those of this run stay whatever the bound says. */
    private readonly used = new Set<string>();
    /** Folders that are there: thousands of files would ask thousands of times. */
    private readonly made = new Set<string>();

    constructor(
        private readonly folder = toolCache("contents"),
        private readonly mostBytes = MOST_GIGABYTES * 1e9,
    ) {}

    /** Where a content lies, or would. */
    path(sha256: string): string {
        return join(this.folder, sha256.slice(0, 2), sha256);
    }

    /** Whether it is there; `size` tells a file that was cut by a full disk or a lost power. */
    has(sha256: string, size?: number): boolean {
        const found = this.sizeOf(sha256);
        if (found === undefined || (size !== undefined && found !== size)) {
            return false;
        }
        this.touch(sha256);
        return true;
    }

    /** Its size; undefined when it is not there. */
    sizeOf(sha256: string): number | undefined {
        return statSync(this.path(sha256), { throwIfNoEntry: false })?.size;
    }

    /** Keeps bytes that are whole already. */
    add(data: Buffer): string {
        const sha256 = createHash("sha256").update(data).digest("hex");
        if (!this.has(sha256, data.length)) {
            const writer = this.begin(sha256);
            const descriptor = openSync(writer.path, "wx", 0o600);
            writeSync(descriptor, data);
            closeSync(descriptor);
            writer.keep();
        }
        return sha256;
    }

    /** Where a content is written before it is whole. */
    begin(sha256: string): Unfinished {
        return this.unfinished(sha256, this.incomingPath(sha256));
    }

    /** What an earlier run had written of a content when it was cut, for this one to go on with; undefined when there is nothing of it. */
    resume(sha256: string): Unfinished | undefined {
        const path = this.incomingPath(sha256);
        return claimed(this.make("incoming"), sha256, path) ? this.unfinished(sha256, path) : undefined;
    }

    /** A content whose hash is not known before its last byte. */
    incoming(): Incoming {
        const writer = this.begin("unnamed");
        const hash = createHash("sha256");
        const descriptor = openSync(writer.path, "wx", 0o600);
        let size = 0;
        return {
            write: (piece) => {
                hash.update(piece);
                writeSync(descriptor, piece);
                size += piece.length;
            },
            end: () => {
                closeSync(descriptor);
                const sha256 = hash.digest("hex");
                writer.keep(sha256);
                return { sha256, size };
            },
            drop: () => {
                closeSync(descriptor);
                writer.drop();
            },
        };
    }

    /** A file of this cache that is no content. */
    beside(folder: string, name: string): string {
        return join(this.folder, "..", folder, name);
    }

    /** Hashes those that are there and drops what is not what its name says; for a host that refused one. */
    async check(all: string[]): Promise<void> {
        for (const sha256 of all.filter((one) => this.has(one))) {
            const hash = createHash("sha256");
            const file = await open(this.path(sha256));
            for await (const part of file.createReadStream()) {
                hash.update(part as Buffer);
            }
            if (hash.digest("hex") !== sha256) {
                await rm(this.path(sha256), { force: true });
            }
        }
    }

    /** Removes what is too old and what is too much, and what writers that died have left. */
    async tidy(now = Date.now()): Promise<void> {
        const found: { path: string; size: number; used: number }[] = [];
        for (const folder of await readdir(this.folder).catch(() => [])) {
            for (const name of await readdir(join(this.folder, folder)).catch(() => [])) {
                const path = join(this.folder, folder, name);
                const facts = await stat(path).catch(() => undefined);
                if (facts === undefined || this.used.has(name)) {
                    continue;
                }
                const old = now - facts.mtimeMs > (folder === "incoming" ? STALE : MOST_DAYS * 86_400_000);
                if (old) {
                    await rm(path, { force: true });
                } else if (folder !== "incoming") {
                    found.push({ path, size: facts.size, used: facts.mtimeMs });
                }
            }
        }
        let size = found.reduce((sum, one) => sum + one.size, 0);
        for (const one of found.sort((a, b) => a.used - b.used)) {
            if (size <= this.mostBytes) {
                break;
            }
            size -= one.size;
            await rm(one.path, { force: true });
        }
    }

    private incomingPath(sha256: string): string {
        return join(this.make("incoming"), `${sha256}.${process.pid}.${randomBytes(4).toString("hex")}`);
    }

    private unfinished(sha256: string, path: string): Unfinished {
        const keep = (as = sha256): void => {
            this.make(as.slice(0, 2));
            renameSync(path, this.path(as));
            this.used.add(as);
        };
        const leave = (): void => left(this.make("incoming"), sha256, path);
        return { path, keep, leave, drop: () => rmSync(path, { force: true }) };
    }

    private make(name: string): string {
        const folder = join(this.folder, name);
        if (!this.made.has(folder)) {
            mkdirSync(folder, { recursive: true, mode: 0o700 });
            this.made.add(folder);
        }
        return folder;
    }

    private touch(sha256: string): void {
        if (!this.used.has(sha256)) {
            this.used.add(sha256);
            const now = new Date();
            utimesSync(this.path(sha256), now, now);
        }
    }
}

import { createHash, createHmac } from "node:crypto";
import { appendFileSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { canonical } from "./canonical";
import { renderPath } from "./path";
import type { Properties } from "./wire";

const FILE = /^seen-(\d+)$/;

interface Line {
    by: number;
    urn: string;
    paths: Record<string, string>;
    /** Digest of the owner whose thing the resource is to take over. */
    inherits?: string;
}

/**
 * What the preview of a command saw, for the `up` that follows in another process of the same command. Kept as keyed digests in a
 * file that is named after the engine's process and goes after it.
 */
export class Seen {
    private readonly file: string | undefined;

    /** `folder`: where only this user reads; undefined = nothing is kept. */
    constructor(
        folder: string | undefined,
        engine = process.ppid,
        private readonly self = process.pid,
    ) {
        this.file = folder === undefined ? undefined : join(folder, `seen-${engine}`);
        if (folder !== undefined) {
            dropOld(folder, engine);
        }
    }

    /** Notes a resource as the host showed it. `own`: fields that change by themselves. */
    note(urn: string, state: Properties, own: readonly string[] = []): void {
        this.append({ by: this.self, urn, paths: digests(state, own) });
    }

    /** Notes that a resource is to take over what another one, by its owner's id, has made under an earlier name. */
    inherit(owner: string, urn: string): void {
        this.append({ by: this.self, urn, paths: {}, inherits: digest(owner) });
    }

    /** The resource that is to take over what an owner has made, as this command knows. */
    heir(owner: string): string | undefined {
        const inherits = digest(owner);
        return this.lines().findLast((line) => line.inherits === inherits)?.urn;
    }

    /** Paths that this process does not see as the preview of this command did; none when there was no preview. */
    moved(urn: string): string[] {
        const lines = this.lines().filter((line) => line.urn === urn && line.inherits === undefined);
        const before = lines.findLast(({ by }) => by !== this.self)?.paths;
        const now = lines.findLast(({ by }) => by === this.self)?.paths;
        if (before === undefined || now === undefined) {
            return [];
        }
        const paths = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
        return paths.filter((path) => before[path] !== now[path]);
    }

    private append(line: Line): void {
        if (this.file !== undefined) {
            try {
                appendFileSync(this.file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
            } catch {
                // Without it a move between preview and up is shown by neither, as without a preview.
            }
        }
    }

    private lines(): Line[] {
        try {
            const text = this.file === undefined ? "" : readFileSync(this.file, "utf8");
            return text
                .split("\n")
                .filter((line) => line !== "")
                .map((line) => JSON.parse(line) as Line);
        } catch {
            return [];
        }
    }
}

/** The id itself is the key of the other digests. */
function digest(owner: string): string {
    return createHash("sha256").update(owner).digest("hex");
}

/** Each field, and each entry of a map, by its path. The owner's id is the key, so that a digest tells nobody a secret. */
function digests(state: Properties, own: readonly string[]): Record<string, string> {
    const paths: Record<string, string> = {};
    for (const [name, value] of Object.entries(state)) {
        if (own.includes(name) || value === undefined) {
            continue;
        }
        const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
        for (const [path, part] of isMap
            ? Object.entries(value).map(([key, item]) => [renderPath([name, key]), item] as const)
            : [[name, value] as const]) {
            const digest = createHmac("sha256", String(state.owner)).update(canonical(part));
            paths[path] = digest.digest("hex").slice(0, 16);
        }
    }
    return paths;
}

/** Files of engines that are gone. One of an earlier engine with our engine's number goes as well, unless it is in use. */
function dropOld(folder: string, engine: number): void {
    for (const name of readdirSync(folder)) {
        const pid = Number(FILE.exec(name)?.[1] ?? engine);
        if (pid !== engine && !runs(pid)) {
            rmSync(join(folder, name), { force: true });
        }
    }
}

function runs(pid: number): boolean {
    try {
        process.kill(pid, 0);
        return true;
    } catch (error) {
        return (error as NodeJS.ErrnoException).code === "EPERM";
    }
}

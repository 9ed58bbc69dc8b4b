import { posix } from "node:path";
import type { ReadEntry } from "tar";
import type { Contents, Incoming } from "../donors/contents";
import type { Packed } from "./archive";

const FILES = ["File", "OldFile", "ContiguousFile"];

/** What an archive holds, as it comes; its bytes go into the cache. */
export class Unpacked {
    private readonly found = new Map<string, Packed>();
    private readonly links = new Map<string, string>();
    private readonly problems: string[] = [];
    private current: Incoming | undefined;

    constructor(private readonly contents: Contents) {}

    /** Takes one entry; what is wrong with it is said at the end, with all the rest. */
    take(entry: ReadEntry): void {
        const path = entry.path.replace(/^(\.\/)+/, "").replace(/\/+$/, "");
        const { type } = entry;
        if (leadsOut(path) && path !== "") {
            this.problems.push(`${entry.path} leads out of it`);
        } else if (type === "SymbolicLink" || type === "Link") {
            const target = String(entry.linkpath ?? "");
            const place = type === "Link" ? target.replace(/^(\.\/)+/, "") : posix.join(posix.dirname(path), target);
            if (target.startsWith("/") || leadsOut(place)) {
                this.problems.push(`the link ${path} leads out of it, to ${target}`);
            }
            this.links.set(path, posix.normalize(place));
        } else if (path.includes("/GNUSparseFile.")) {
            this.problems.push(`${entry.path} is a sparse file; pack it without \`--sparse\``);
        } else if (FILES.includes(type) && !isBytecode(path)) {
            this.keep(entry, path);
            return;
        } else if (!FILES.includes(type) && type !== "Directory" && type !== "GNUDumpDir") {
            this.refuse(entry);
        }
        entry.resume();
    }

    /** Notes an entry that is nothing that can be laid. */
    refuse({ path, type }: ReadEntry): void {
        this.problems.push(`${path.replace(/^(\.\/)+/, "")} is a ${type}, which no package has`);
    }

    /** All files, by path; a link counts as the file that it leads to. Throws with everything that is wrong. */
    files(): Packed[] {
        for (const [path, target] of this.links) {
            const file = this.found.get(this.followed(target));
            if (file === undefined) {
                this.problems.push(`the link ${path} leads to ${target}, which is no file in it`);
            } else if (!isBytecode(path)) {
                this.found.set(path, { ...file, path });
            }
        }
        if (this.problems.length > 0) {
            throw new Error([...new Set(this.problems)].join("; "));
        }
        return [...this.found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
    }

    /** Gives up what is not whole. */
    drop(): void {
        this.current?.drop();
    }

    private keep(entry: ReadEntry, path: string): void {
        const incoming = this.contents.incoming();
        this.current = incoming;
        entry.on("data", (piece: Buffer) => incoming.write(piece));
        entry.on("end", () => {
            const kept = incoming.end();
            this.current = undefined;
            this.found.set(path, { path, mode: ((entry.mode ?? 0) & 0o100) === 0 ? "644" : "755", ...kept });
        });
    }

    private followed(target: string): string {
        let [place, steps] = [target, 0];
        while (this.links.has(place) && steps++ < 40) {
            place = this.links.get(place) as string;
        }
        return place;
    }
}

function leadsOut(path: string): boolean {
    return path === "" || path.startsWith("/") || path.includes("\0") || posix.normalize(path).split("/")[0] === "..";
}

function isBytecode(path: string): boolean {
    return path.endsWith(".pyc") || path.split("/").includes("__pycache__");
}

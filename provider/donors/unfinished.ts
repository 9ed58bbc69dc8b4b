import { readdirSync, renameSync } from "node:fs";
import { join } from "node:path";

/** A file of the cache that is being written, under a name that says whose it is: `<sha256>.<pid>.<random>`. */
export interface Unfinished {
    path: string;
    /** Gives it its place: it is whole. */
    keep: (as?: string) => void;
    /** Leaves what is there of it for the next run. */
    leave: () => void;
    drop: () => void;
}

/** What stands in place of the process's id when nobody writes it any more. */
const LEFT = "left";

/** Gives what a run that was cut or killed has of a content another name, so that only one goes on with it; false when there is nothing of it. */
export function claimed(folder: string, sha256: string, path: string): boolean {
    return readdirSync(folder)
        .filter((name) => name.startsWith(`${sha256}.`) && isNobodys(name.split(".")[1] ?? ""))
        .some((name) => moved(join(folder, name), path));
}

/** Lets another run go on with a file. */
export function left(folder: string, sha256: string, path: string): void {
    moved(path, join(folder, `${sha256}.${LEFT}`));
}

function moved(from: string, to: string): boolean {
    try {
        renameSync(from, to);
        return true;
    } catch {
        return false;
    }
}

function isNobodys(writer: string): boolean {
    if (writer === LEFT) {
        return true;
    }
    try {
        process.kill(Number(writer), 0);
        return false;
    } catch (error) {
        return (error as NodeJS.ErrnoException).code === "ESRCH";
    }
}

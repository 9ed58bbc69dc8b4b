import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Content } from "./host/host";

/** One file of a tree on the control machine. */
export interface TreeFile {
    /** Below the tree's top, with `/`. */
    path: string;
    mode: "755" | "644";
    content: Content & { path: string };
}

/** A file up to this size, in bytes, is read in one piece. */
const SMALL = 1 << 20;

/** Hashes of files that did not change since: check and apply, preview and up ask for the same ones. */
const hashes = new Map<string, string>();

/** A file's bytes: hash and size now. Streamed; throws what `stat` throws. */
export async function fileContent(path: string): Promise<Content & { path: string }> {
    const { size, mtimeMs, ctimeMs, ino } = await stat(path);
    const key = [path, size, mtimeMs, ctimeMs, ino].join("\0");
    let hash = hashes.get(key);
    if (hash === undefined) {
        const hasher = createHash("sha256");
        // Of a small file the stream would cost more than its bytes.
        await (size <= SMALL
            ? readFile(path).then((bytes) => hasher.update(bytes))
            : pipeline(createReadStream(path), hasher));
        hash = hasher.digest("hex");
        hashes.set(key, hash);
    }
    return { sha256: hash, size, path };
}

/**
 * The files of a directory, by path. Bytecode is left out: Python makes it, and stale bytecode would answer for new
 * source. Links to files count as what they point to; links to directories are refused, as they may lead in circles.
 */
export async function treeOf(top: string): Promise<TreeFile[]> {
    const files: TreeFile[] = [];
    const walk = async (directory: string, prefix: string): Promise<void> => {
        for (const entry of await readdir(directory, { withFileTypes: true })) {
            const path = join(directory, entry.name);
            const relative = prefix + entry.name;
            if (entry.name === "__pycache__" || entry.name.endsWith(".pyc")) {
                continue;
            }
            if (entry.isDirectory()) {
                await walk(path, `${relative}/`);
                continue;
            }
            const { mode, isDirectory } = await stat(path).then((found) => ({
                mode: found.mode,
                isDirectory: found.isDirectory(),
            }));
            if (isDirectory) {
                throw new Error(`${path} is a link to a directory; copy what it points to`);
            }
            files.push({
                path: relative,
                mode: (mode & 0o100) === 0 ? "644" : "755",
                content: await fileContent(path),
            });
        }
    };
    await walk(top, "");
    return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

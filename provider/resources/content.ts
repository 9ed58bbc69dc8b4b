import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Content } from "../host/host";
import { sha256 } from "./digests";
import type { Asset } from "./inputs/asset";

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

/** An asset's bytes. The file may have changed since the engine hashed it; then what was previewed is not what would be sent. */
export async function assetContent(asset: Asset): Promise<Content> {
    if (asset.path === undefined) {
        const text = asset.text ?? "";
        return { sha256: sha256(text), size: Buffer.byteLength(text), text };
    }
    const content = await fileContent(asset.path);
    if (asset.sha256 !== "" && asset.sha256 !== content.sha256) {
        throw new Error(`${asset.path} was changed while this run was at work\nTo mend it: run it again.`);
    }
    return content;
}

/** The sha256 of an asset's bytes, as the engine said it or read now. */
export async function assetHash(asset: Asset): Promise<string> {
    return asset.sha256 !== "" ? asset.sha256 : (await assetContent(asset)).sha256;
}

/** An asset's text. */
export async function assetText(asset: Asset): Promise<string> {
    return asset.path === undefined ? (asset.text ?? "") : readFile(asset.path, "utf8");
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

/** Name and version that a wheel's file name says; undefined when it is none. */
export function wheelName(path: string): { filename: string; name: string; version: string } | undefined {
    const filename = basename(path);
    const match = /^([^-]+)-([^-]+)(-\d[^-]*)?-[^-]+-[^-]+-[^-]+\.whl$/.exec(filename);
    return match === null ? undefined : { filename, name: normalName(match[1]), version: decodeURIComponent(match[2]) };
}

/** A distribution's name as PEP 503 normalises it. */
export function normalName(name: string): string {
    return name.toLowerCase().replace(/[-_.]+/g, "-");
}

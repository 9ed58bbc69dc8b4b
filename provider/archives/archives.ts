import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Contents } from "../donors/contents";
import { fileContent, type TreeFile } from "../files";
import type { Progress } from "../host/host";
import { isUrl, named, type Packed, unpack } from "./archive";

/** The files of an archive as a directory would have them, and its sha256. What is in the cache already is neither fetched nor unpacked again. */
export async function archiveTree(
    from: { archive: string; sha256?: string },
    contents: Contents,
    progress?: Progress,
    signal?: AbortSignal,
): Promise<{ files: TreeFile[]; sha256: string }> {
    const sha256 = isUrl(from.archive) ? from.sha256 : (await fileContent(from.archive)).sha256;
    if (from.sha256 !== undefined && sha256 !== from.sha256) {
        throw other(from, sha256);
    }
    const known = sha256 === undefined ? undefined : recall(contents, sha256);
    if (known !== undefined && sha256 !== undefined) {
        return { files: known.map((one) => asTree(one, contents)), sha256 };
    }
    const unpacked = await unpack(from.archive, contents, progress, signal);
    if (unpacked.sha256 !== sha256) {
        throw other(from, unpacked.sha256);
    }
    remember(contents, sha256, unpacked.files);
    return { files: unpacked.files.map((one) => asTree(one, contents)), sha256 };
}

function other({ archive, sha256 }: { archive: string; sha256?: string }, found: string | undefined): Error {
    return new Error(`${named(archive)} has the sha256 ${found}, expected ${sha256}`);
}

function asTree({ path, mode, sha256, size }: Packed, contents: Contents): TreeFile {
    return { path, mode, content: { sha256, size, path: contents.path(sha256) } };
}

/** What an archive holds, when that was seen before and all of it is here still. */
function recall(contents: Contents, sha256: string): Packed[] | undefined {
    try {
        const files = JSON.parse(readFileSync(contents.beside("archives", `${sha256}.json`), "utf8")) as Packed[];
        return files.every((one) => contents.has(one.sha256, one.size)) ? files : undefined;
    } catch {
        return undefined;
    }
}

function remember(contents: Contents, sha256: string, files: Packed[]): void {
    const file = contents.beside("archives", `${sha256}.json`);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(files), { mode: 0o600 });
    renameSync(`${file}.${process.pid}`, file);
}

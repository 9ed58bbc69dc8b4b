import { basename } from "node:path";
import { archiveTree } from "../archives/archives";
import type { Contents } from "../donors/contents";
import { fileContent, type TreeFile, treeOf } from "../files";
import type { Content, Progress } from "../host/host";
import { assetContent } from "./assets";
import { digestOf } from "./digests";
import { normalName, wheelName } from "./distributionName";
import type { Asset, Overlay } from "./inputs";

/** One overlay as the host is told of it, with what must be sent first. */
export interface OverlaySource {
    packages: string[];
    version: string;
    digest: string;
    source: Record<string, unknown>;
    contents: Content[];
}

/** Where archives are unpacked to, and who is told meanwhile. */
export interface Unpacking {
    contents: Contents;
    progress?: Progress;
    signal?: AbortSignal;
}

/** Reads what an overlay is made of, when that is not a donor's. Throws when it is not there or is not what it should be. */
export async function sourceOf(
    { packages, from }: Overlay,
    base: unknown,
    unpacking: Unpacking,
): Promise<OverlaySource> {
    if ("wheel" in from) {
        return wheel(from.wheel, packages);
    }
    if ("venv" in from) {
        throw new Error(`${from.venv} is a donor`);
    }
    if ("archive" in from) {
        return archive(from, packages ?? [], unpacking);
    }
    return "directory" in from ? directory(from, packages ?? []) : fromIndex(from, packages, base);
}

async function wheel(given: string | Asset, packages: string[] | undefined): Promise<OverlaySource> {
    const path = typeof given === "string" ? given : given.path;
    const named = path === undefined ? undefined : wheelName(path);
    if (named === undefined) {
        throw new Error(
            `${path === undefined ? "a text" : basename(path)} is not named like a wheel (name-version-python-abi-platform.whl)`,
        );
    }
    const content = typeof given === "string" ? await fileContent(given) : await assetContent(given);
    const source = { kind: "wheel", sha256: content.sha256, filename: named.filename };
    return made(packages ?? [named.name], named.version, source, [content]);
}

async function directory(from: { directory: string; version?: string }, packages: string[]): Promise<OverlaySource> {
    return ofTree(await treeOf(from.directory), from.directory, from.version, packages);
}

/** As a directory; where it came from is kept beside it, for an import. */
async function archive(
    from: { archive: string; sha256?: string; version?: string },
    packages: string[],
    { contents, progress, signal }: Unpacking,
): Promise<OverlaySource> {
    const { files, sha256 } = await archiveTree(from, contents, progress, signal);
    const made = ofTree(files, from.archive, from.version, packages);
    return { ...made, source: { ...made.source, archive: from.archive, sha256 } };
}

function ofTree(tree: TreeFile[], where: string, version: string | undefined, packages: string[]): OverlaySource {
    if (tree.length === 0) {
        throw new Error(`${where} holds no file`);
    }
    const files = tree.map(({ path, mode, content }) => ({
        path,
        sha256: content.sha256,
        mode: Number.parseInt(mode, 8),
    }));
    const found = tree
        .map(({ path }) => /^([^/]+)-([^-/]+)\.dist-info\//.exec(path))
        .find((match) => match !== null && packages.map(normalName).includes(normalName(match[1])));
    const contents = tree.map(({ content }) => content);
    const shown = version ?? found?.[2];
    if (shown !== undefined) {
        return made(packages, shown, { kind: "directory", files, version: shown }, contents);
    }
    // Files that nobody gave a version are told apart by what they are.
    const unnamed = made(packages, "", { kind: "directory", files }, contents);
    const given = `0+${unnamed.digest.slice(0, 8)}`;
    return { ...unnamed, version: given, source: { ...unnamed.source, version: given } };
}

async function fromIndex(
    from: { index: string; indexUrl?: string; extraIndexUrl?: string[]; findLinks?: string[] },
    packages: string[] | undefined,
    base: unknown,
): Promise<OverlaySource> {
    const [name, version] = from.index.split("==");
    const { indexUrl, extraIndexUrl, findLinks } = from;
    const source = { kind: "index", requirement: from.index, indexUrl, extraIndexUrl, findLinks };
    // What uv takes for one Python is not what it takes for another.
    return made(packages ?? [normalName(name.replace(/\[.*/, ""))], version, source, [], { base });
}

/** The digest is of the bytes, or of the requirement where the host gets them itself. */
function made(
    packages: string[],
    version: string,
    source: Record<string, unknown>,
    contents: Content[],
    more: object = {},
): OverlaySource {
    return { packages, version, source, contents, digest: digestOf({ packages, source, ...more }) };
}

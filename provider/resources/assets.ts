import { readFile } from "node:fs/promises";
import { fileContent } from "../files";
import type { Content } from "../host/host";
import { sha256 } from "./digests";
import type { Asset } from "./inputs/asset";

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

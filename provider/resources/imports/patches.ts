import type { Connection } from "../../connection";
import type { HostFacts } from "../../host/facts";
import { type Host, HostError } from "../../host/host";
import type { Imported } from "../../resource";
import { sha256 } from "../digests";
import type { SourcePatchInputs } from "../inputs";
import { Asset } from "../inputs/asset";

/** The patches of a venv as one would declare them, with their texts from the host's store. */
export async function importedPatches(
    facts: HostFacts,
    venv: string,
    connection: Connection,
    host: Host,
): Promise<Imported<SourcePatchInputs>> {
    const { root } = facts;
    const staged = facts.patches[venv];
    if (staged === undefined) {
        return undefined;
    }
    const patches = Object.entries(staged.files).map(async ([name, label]) => {
        const [kind, hash] = label.split(" ");
        if (hash === undefined) {
            throw new HostError(host.label, {
                code: "missing-content",
                message: `the content of the patch of ${name} is gone from the host's store, so it cannot be imported`,
                where: root,
                remedy: "declare the patch; set `takeOver: true` if another stack made this one",
            });
        }
        return {
            ...(name.startsWith("module:") ? { module: name.slice("module:".length) } : { path: name }),
            [kind]: await textAsset(host, root, hash, `the patch of ${name}`),
            ...(staged.pre[name] === undefined ? {} : { pre: staged.pre[name] }),
        };
    });
    return { inputs: { connection, root, venv, patches: await Promise.all(patches) } };
}

/** A content of the host's store as a text asset; HostError when it is no text. */
export async function textAsset(host: Host, root: string, hash: string, what: string): Promise<Asset> {
    const text = (await host.fetch(root, hash)).toString("utf8");
    if (sha256(text) !== hash) {
        throw new HostError(host.label, {
            code: "no-text",
            message: `${what} is no UTF-8 text, so it cannot be imported`,
            where: root,
            remedy: "declare it by its file, and set `takeOver: true` if another stack made what is there",
        });
    }
    return Asset.string(text, hash);
}

import type { StagedPatches } from "../host/facts";
import { Invalid } from "../invalid";
import type { Path } from "../path";
import type { Kept, Resource } from "../resource";
import { assetContent, assetHash, assetText } from "./assets";
import { claim, field, idOf, isClaimed, map, moved, nameOf } from "./common";
import { digestOf, short } from "./digests";
import { importedPatches } from "./imports/patches";
import { type SourcePatchInputs, sourcePatchInputs } from "./inputs";
import { patchBytes, patchKey, tellPatches } from "./patchChanges";
import { notADiff } from "./udiff";

export interface SourcePatchWish extends SourcePatchInputs {
    /** File => `<kind> <digest>` of what is to be staged. */
    files: Record<string, string>;
    /** Of all patches in order; what a Venv takes. */
    digest: string;
}

export interface SourcePatchState extends Kept {
    root: string;
    venv: string;
    files: Record<string, string>;
    digest: string;
}

/** Patches to files of installed packages: here they are staged on the host, beside what runs. */
export const sourcePatch: Resource<SourcePatchInputs, SourcePatchWish, SourcePatchState> = {
    token: "sglang:index:SourcePatch",
    inputs: sourcePatchInputs,
    resolved: ["files", "digest"],
    id: ({ connection, venv }) => idOf(connection, "patch", venv),

    async resolve(inputs) {
        const patches = await protocolOf(inputs);
        return { ...inputs, files: labels(inputs, patches), digest: digestOf(patches) };
    },

    read(facts, _id, prior) {
        if (prior === undefined) {
            return undefined;
        }
        const { venv, root } = prior.inputs;
        const staged: StagedPatches | undefined = facts.patches[venv];
        if (staged?.owner !== prior.state.owner) {
            const begun = isClaimed(facts, "patch", venv, prior.state.owner);
            return begun ? { ...prior.state, root, venv, files: {}, digest: "" } : undefined;
        }
        const files = Object.fromEntries(Object.entries(staged.files).map(([name, label]) => [name, shortened(label)]));
        return { owner: staged.owner, machine: facts.machine.machineId, root, venv, files, digest: staged.digest };
    },

    imported: (facts, id, connection, host) => importedPatches(facts, nameOf(id), connection, host),

    diff(state, wanted) {
        const files = map("files", state.files, wanted.files);
        // The digest adds something only when no file differs: another order, another pre-image.
        return [
            ...moved(state, wanted, "venv"),
            ...(files.length > 0 ? files : field(["digest"], state.digest, wanted.digest)),
        ];
    },

    async plan(wanted, prior, work) {
        const { root, venv, files, digest } = wanted;
        const facts = await work.host.look(root);
        await tellPatches(wanted, prior, facts, work);
        return { owner: prior?.owner ?? "", machine: facts.machine.machineId, root, venv, files, digest };
    },

    async apply(wanted, _prior, work) {
        const { root, venv, files, digest } = wanted;
        const patches = await protocolOf(wanted);
        const contents = await Promise.all(wanted.patches.map((patch) => assetContent(patchBytes(patch))));
        const { machine } = await work.host.look(root);
        await work.host.send(root, contents, work.progress);
        await work.host.call("patch.stage", { root, claim: claim("patch", venv, work), venv, digest, patches }, work);
        return { owner: work.owner, machine: machine.machineId, root, venv, files, digest };
    },

    async remove({ root, venv }, _state, work) {
        await work.host.call("patch.remove", { root, claim: claim("patch", venv, work) }, work);
    },
};

interface ProtocolPatch {
    target: { module: string } | { path: string };
    kind: "file" | "diff";
    sha256: string;
    pre: string | null;
}

async function protocolOf(inputs: SourcePatchInputs): Promise<ProtocolPatch[]> {
    const problems: { path: Path; text: string }[] = [];
    const seen = new Set<string>();
    const patches: ProtocolPatch[] = [];
    for (const [at, patch] of inputs.patches.entries()) {
        const name = patchKey(patch);
        if (seen.has(name)) {
            problems.push({ path: ["patches", at], text: `${name} has a patch before this one` });
        }
        seen.add(name);
        const target = patch.module === undefined ? { path: patch.path ?? "" } : { module: patch.module };
        const kind = patch.file === undefined ? "diff" : "file";
        try {
            patches.push({ target, kind, sha256: await assetHash(patchBytes(patch)), pre: patch.pre ?? null });
            const wrong = kind === "diff" ? notADiff(await assetText(patchBytes(patch))) : undefined;
            if (wrong !== undefined) {
                problems.push({ path: ["patches", at, kind], text: wrong });
            }
        } catch (error) {
            problems.push({ path: ["patches", at, kind], text: (error as Error).message });
        }
    }
    Invalid.when(problems);
    return patches;
}

function labels(inputs: SourcePatchInputs, patches: ProtocolPatch[]): Record<string, string> {
    return Object.fromEntries(
        inputs.patches.map((patch, at) => [patchKey(patch), `${patches[at].kind} ${short(patches[at].sha256)}`]),
    );
}

function shortened(label: string): string {
    const [kind, sha256] = label.split(" ");
    return sha256 === undefined ? label : `${kind} ${short(sha256)}`;
}

import type { HostFacts } from "../host/facts";
import type { Caused, Planning } from "../resource";
import { byCause } from "../told";
import { assetText } from "./assets";
import { type Difference, hostDiff } from "./hostDiff";
import type { Patch, SourcePatchInputs } from "./inputs";
import type { Asset } from "./inputs/asset";
import { countsOf, diffLines, givenDiff, type TextChange, textChange } from "./udiff";

/** A patch that is to be staged. */
interface Changed {
    patch: Patch;
    /** As the state names it. */
    key: string;
    text: string;
    /** sha256 of the whole file that is staged now, if it is one. */
    staged?: string;
}

/** A patch's name in inputs and state: `module:sglang.srt.x`, or a path. */
export function patchKey(patch: Patch): string {
    return patch.module === undefined ? (patch.path ?? "") : `module:${patch.module}`;
}

/** Its content: a whole file, or a diff. */
export function patchBytes(patch: Patch): Asset {
    return (patch.file ?? patch.diff) as Asset;
}

/**
 * Says, for each patch that changes, what that makes of the file, and who made the difference; warns of one that does not
 * fit what is on the host. Where the host has no such venv yet, the patch is shown against the staged one, or as it is.
 */
export async function tellPatches(
    wanted: SourcePatchInputs,
    prior: object | undefined,
    facts: HostFacts,
    work: Planning,
): Promise<void> {
    const files = prior === undefined ? added(wanted) : work.changes.filter(({ path }) => path[0] === "files");
    const changed = await changedPatches(wanted, facts.patches[wanted.venv]?.files ?? {}, files, work);
    const known = facts.venvs[wanted.venv] === undefined ? [] : await tried(wanted, changed, work);
    const shown: TextChange[] = [];
    const words = new Map(
        wanted.patches.map((patch) => {
            const key = patchKey(patch);
            return [key, `${key.replace(/^module:/, "")} (secret, not shown)`];
        }),
    );
    for (const [at, one] of changed.entries()) {
        const difference = known[at];
        if (difference !== undefined && "problem" in difference) {
            work.warn(`${difference.path}: the patch does not fit what the host has now\n${difference.problem}`);
        }
        const change =
            difference === undefined || "problem" in difference ? await byItself(one, wanted, work) : difference;
        words.set(one.key, change === undefined ? one.key.replace(/^module:/, "") : countsOf(change));
        if (change !== undefined) {
            shown.push(change);
        }
    }
    if (files.length > 0) {
        const describe = (name: string): string =>
            words.get(name) ?? `${name.replace(/^module:/, "")} no longer patched`;
        work.info([byCause(files, ({ path }) => describe(String(path[1]))), ...diffLines(shown)].join("\n"));
    }
}

/** All of them, where nothing was staged before. */
function added({ patches }: SourcePatchInputs): Caused[] {
    return patches.map((patch) => ({ path: ["files", patchKey(patch)], kind: "add", cause: "config" }));
}

async function changedPatches(
    { patches }: SourcePatchInputs,
    staged: Record<string, string>,
    files: Caused[],
    { isSecret }: Pick<Planning, "isSecret">,
): Promise<Changed[]> {
    const names = new Set(files.map(({ path }) => path[1]));
    return Promise.all(
        patches
            .map((patch, at) => ({ patch, key: patchKey(patch), at }))
            .filter(({ key, at }) => names.has(key) && !isSecret(["patches", at]))
            .map(async ({ patch, key }) => {
                const [kind, sha256] = staged[key]?.split(" ") ?? [];
                const text = await assetText(patchBytes(patch));
                return { patch, key, text, staged: kind === "file" ? sha256 : undefined };
            }),
    );
}

async function tried(
    { root, venv }: SourcePatchInputs,
    changed: Changed[],
    work: Planning,
): Promise<(Difference | undefined)[]> {
    const patches = changed.map(({ patch, text }) => ({
        target: patch.module === undefined ? { path: patch.path ?? "" } : { module: patch.module },
        kind: patch.file === undefined ? ("diff" as const) : ("file" as const),
        text,
        pre: patch.pre ?? null,
    }));
    return patches.length === 0 ? [] : (await hostDiff(work.host, root, venv, { patches })).patches;
}

/** Without the file that it is for: a diff as it is, a whole file against the one that is staged. */
async function byItself(
    { patch, key, text, staged }: Changed,
    { root }: SourcePatchInputs,
    work: Planning,
): Promise<TextChange | undefined> {
    const name = key.replace(/^module:/, "");
    if (patch.diff !== undefined) {
        return givenDiff(name, text);
    }
    return staged === undefined
        ? undefined
        : textChange(name, (await work.host.fetch(root, staged)).toString("utf8"), text);
}

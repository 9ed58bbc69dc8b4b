import type { StagedOverlays } from "../host/facts";
import type { Content } from "../host/host";
import { Invalid } from "../invalid";
import type { Path } from "../path";
import type { Kept, Resource } from "../resource";
import { claim, field, idOf, isClaimed, map, moved, nameOf } from "./common";
import { digestOf, short } from "./digests";
import { importedOverlays } from "./imports/overlays";
import { type PackageOverlayInputs, packageOverlayInputs } from "./inputs";
import { type OverlaySource, sourceOf } from "./overlaySource";
import { tellPackages } from "./packageChanges";
import { withUv } from "./withUv";

export interface PackageOverlayWish extends PackageOverlayInputs {
    /** Distribution => `<version> <digest>` of what is to be staged. */
    packages: Record<string, string>;
    /** Of all overlays in order; what a Venv takes. */
    digest: string;
}

export interface PackageOverlayState extends Kept {
    root: string;
    venv: string;
    packages: Record<string, string>;
    digest: string;
}

/** Distributions that are laid over the base of a venv: here they are staged on the host, beside what runs. */
export const packageOverlay: Resource<PackageOverlayInputs, PackageOverlayWish, PackageOverlayState> = {
    token: "sglang:index:PackageOverlay",
    inputs: packageOverlayInputs,
    resolved: ["packages", "digest"],
    id: ({ connection, venv }) => idOf(connection, "overlay", venv),

    async resolve(inputs) {
        const sources = await sourcesOf(inputs);
        return {
            ...inputs,
            packages: Object.assign({}, ...sources.map(labels)),
            digest: digestOf(sources.map(({ digest }) => digest)),
        };
    },

    read(facts, _id, prior) {
        if (prior === undefined) {
            return undefined;
        }
        const { venv, root, packages } = prior.inputs;
        const staged: StagedOverlays | undefined = facts.overlays[venv];
        if (staged?.owner !== prior.state.owner) {
            const begun = isClaimed(facts, "overlay", venv, prior.state.owner);
            return begun ? { ...prior.state, root, venv, packages: {}, digest: "" } : undefined;
        }
        const live = Object.entries(staged.packages).map(([name, label]) => [
            name,
            asDeclared(label, packages?.[name]),
        ]);
        return {
            owner: staged.owner,
            machine: facts.machine.machineId,
            root,
            venv,
            packages: Object.fromEntries(live),
            digest: staged.digest,
        };
    },

    imported: (facts, id, connection, host) => importedOverlays(facts, nameOf(id), connection, host),

    diff(state, wanted) {
        const packages = map("packages", state.packages, wanted.packages);
        // The digest adds something only when no package differs: another order.
        return [
            ...moved(state, wanted, "venv"),
            ...(packages.length > 0 ? packages : field(["digest"], state.digest, wanted.digest)),
        ];
    },

    async plan(wanted, prior, work) {
        const { machine } = await work.host.look(wanted.root);
        const { root, venv, packages, digest } = wanted;
        const told = tellPackages(work.changes, prior?.packages ?? {}, packages);
        if (told !== undefined) {
            work.info(told);
        }
        return { owner: prior?.owner ?? "", machine: machine.machineId, root, venv, packages, digest };
    },

    async apply(wanted, _prior, work) {
        const { root, venv, base } = wanted;
        const sources = await sourcesOf(wanted);
        const digest = digestOf(sources.map((source) => source.digest));
        if (digest !== wanted.digest) {
            throw new Error(
                `the overlays of ${venv} were changed while this run was at work\nTo mend it: run it again.`,
            );
        }
        const { machine } = await work.host.look(root);
        await work.host.send(
            root,
            sources.flatMap(({ contents }): Content[] => contents),
            work.progress,
        );
        const overlays = sources.map(({ packages, digest: one, source }) => ({ packages, digest: one, source }));
        const args = { root, claim: claim("overlay", venv, work), venv, digest, overlays };
        await withUv(root, machine, work, (uv) =>
            work.host.call("overlay.stage", { ...args, base: base && { ...base, uv } }, work),
        );
        return { owner: work.owner, machine: machine.machineId, root, venv, packages: wanted.packages, digest };
    },

    async remove({ root, venv }, _state, work) {
        await work.host.call("overlay.remove", { root, claim: claim("overlay", venv, work) }, work);
    },
};

async function sourcesOf(inputs: PackageOverlayInputs): Promise<OverlaySource[]> {
    const problems: { path: Path; text: string }[] = [];
    const sources: OverlaySource[] = [];
    for (const [at, overlay] of inputs.overlays.entries()) {
        try {
            sources.push(await sourceOf(overlay, inputs.base));
        } catch (error) {
            problems.push({ path: ["overlays", at, "from"], text: reason(error) });
        }
    }
    Invalid.when(problems);
    return sources;
}

function reason(error: unknown): string {
    const { code, path } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR"
        ? `${path} is not there (looked for from ${process.cwd()})`
        : (error as Error).message;
}

function labels({ packages, digest, version }: OverlaySource): Record<string, string> {
    return Object.fromEntries(packages.map((name) => [name, `${version} ${short(digest)}`]));
}

/** The host reads versions from metadata, the wish from names: the same bytes are the same. */
function asDeclared(live: string, declared: string | undefined): string {
    return declared !== undefined && live.split(" ").at(-1) === declared.split(" ").at(-1) ? declared : live;
}

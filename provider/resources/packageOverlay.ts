import type { Pins } from "../donors/pin";
import type { StagedOverlays } from "../host/facts";
import { type Content, HostError } from "../host/host";
import { Invalid } from "../invalid";
import type { Path } from "../path";
import { type Kept, type Resource, Unplanned, type Work } from "../resource";
import { claim, field, idOf, isClaimed, map, moved, nameOf } from "./common";
import { digestOf, short } from "./digests";
import { bring, requireFit } from "./donorBring";
import { byDonor } from "./donorChanges";
import { askedOf, donorSources, isDonors, takenFrom } from "./donorSource";
import { importedOverlays } from "./imports/overlays";
import { type PackageOverlayInputs, packageOverlayInputs } from "./inputs";
import { type OverlaySource, sourceOf, type Unpacking } from "./overlaySource";
import { tellPackages } from "./packageChanges";
import { withUv } from "./withUv";

export interface PackageOverlayWish extends PackageOverlayInputs {
    /** Distribution => `<version> <digest>` of what is to be staged; absent when a donor cannot be asked of whom nothing is known. */
    packages?: Record<string, string>;
    /** Of all overlays in order; what a Venv takes. */
    digest?: string;
    /** What is taken from donors; absent without any. */
    pins?: Pins;
}

type Known = Required<Pick<PackageOverlayWish, "packages" | "digest">>;

export interface PackageOverlayState extends Kept {
    root: string;
    venv: string;
    packages: Record<string, string>;
    digest: string;
    pins?: Pins;
}

/** Distributions that are laid over the base of a venv: here they are staged on the host, beside what runs. */
export const packageOverlay: Resource<PackageOverlayInputs, PackageOverlayWish, PackageOverlayState> = {
    token: "sglang:index:PackageOverlay",
    inputs: packageOverlayInputs,
    resolved: ["packages", "digest", "pins"],
    id: ({ connection, venv }) => idOf(connection, "overlay", venv),

    async resolve(inputs, { prior, donors, tell }) {
        const pins = await takenFrom(inputs, prior?.pins ?? {}, donors, tell);
        if (pins === undefined) {
            return { ...inputs, ...(prior?.pins && { pins: prior.pins }) };
        }
        const sources = await sourcesOf(inputs, pins, {
            contents: donors.contents,
            progress: tell.progress,
            signal: donors.signal,
        });
        return {
            ...inputs,
            packages: Object.assign({}, ...sources.map(labels)),
            digest: digestOf(sources.map(({ digest }) => digest)),
            ...(Object.keys(pins).length > 0 && { pins }),
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
            ...(prior.state.pins && { pins: prior.state.pins }),
        };
    },

    imported: (facts, id, connection, host) => importedOverlays(facts, nameOf(id), connection, host),

    diff(state, wanted) {
        if (wanted.packages === undefined) {
            return [...moved(state, wanted, "venv"), { path: ["digest"], kind: "update" }];
        }
        const packages = map("packages", state.packages, wanted.packages);
        // The digest adds something only when no package differs: another order.
        return [
            ...moved(state, wanted, "venv"),
            ...(packages.length > 0 ? packages : field(["digest"], state.digest, wanted.digest)),
        ];
    },

    async plan(wanted, prior, work) {
        const { machine } = await work.host.look(wanted.root);
        const { root, venv, pins } = wanted;
        const { packages, digest } = known(wanted, work);
        const asked = wanted.overlays.map((one) => askedOf(one, wanted.connection)).filter((one) => one !== undefined);
        await requireFit(
            asked.flatMap((one) => donorSources(one, pins ?? {})),
            wanted,
            work,
        );
        const changes = await byDonor(work.changes, prior?.pins, pins, work.donors.contents);
        const told = tellPackages(changes, prior?.packages ?? {}, packages);
        if (told !== undefined) {
            work.info(told);
        }
        const owner = prior?.owner ?? "";
        return { owner, machine: machine.machineId, root, venv, packages, digest, ...(pins && { pins }) };
    },

    async apply(wanted, _prior, work) {
        const { root, venv, base, pins } = wanted;
        const { packages } = known(wanted, work);
        const { contents } = work.donors;
        const sources = await sourcesOf(wanted, pins ?? {}, { contents, progress: work.progress });
        const digest = digestOf(sources.map((source) => source.digest));
        if (digest !== wanted.digest) {
            throw new Error(
                `the overlays of ${venv} were changed while this run was at work\nTo mend it: run it again.`,
            );
        }
        const { machine } = await work.host.look(root);
        const sent = sources.flatMap((source): Content[] => source.contents);
        const fromDonors = sources.filter(isDonors);
        try {
            await work.host.send(root, sent, work.progress);
            await bring(fromDonors, wanted, work);
        } catch (error) {
            if (error instanceof HostError && error.report.code === "bad-content") {
                // What went bad in the cache would be sent, and refused, for ever.
                await contents.check([
                    ...sent.map(({ sha256 }) => sha256),
                    ...fromDonors.map((source) => source.digest),
                ]);
            }
            throw error;
        }
        const overlays = sources.map(({ packages: names, digest: one, source }) => ({
            packages: names,
            digest: one,
            source,
        }));
        const args = { root, claim: claim("overlay", venv, work), venv, digest, overlays };
        await withUv(root, machine, work, (uv) =>
            work.host.call("overlay.stage", { ...args, base: base && { ...base, uv } }, work),
        );
        const { machineId } = machine;
        return { owner: work.owner, machine: machineId, root, venv, packages, digest, ...(pins && { pins }) };
    },

    async remove({ root, venv }, _state, work) {
        await work.host.call("overlay.remove", { root, claim: claim("overlay", venv, work) }, work);
    },
};

async function sourcesOf(inputs: PackageOverlayInputs, pins: Pins, unpacking: Unpacking): Promise<OverlaySource[]> {
    const problems: { path: Path; text: string }[] = [];
    const sources: OverlaySource[] = [];
    for (const [at, overlay] of inputs.overlays.entries()) {
        const asked = askedOf(overlay, inputs.connection);
        try {
            sources.push(...(asked ? donorSources(asked, pins) : [await sourceOf(overlay, inputs.base, unpacking)]));
        } catch (error) {
            problems.push({ path: ["overlays", at, "from"], text: reason(error) });
        }
    }
    Invalid.when(problems);
    return sources;
}

/** What a preview and a change need to know. Throws when a donor could not be asked of whom nothing is known. */
function known({ packages, digest, overlays, connection }: PackageOverlayWish, { host, donors }: Work): Known {
    if (packages === undefined || digest === undefined) {
        const asked = overlays.map((one) => askedOf(one, connection)).filter((one) => one !== undefined);
        throw new Unplanned(host.label, donors.refusal(asked));
    }
    return { packages, digest };
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

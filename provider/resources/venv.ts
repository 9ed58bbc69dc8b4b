import { same } from "../canonical";
import type { HostFacts, VenvFacts } from "../host/facts";
import { HostError } from "../host/host";
import type { Kept, Resource, Work } from "../resource";
import { verifying } from "../verify";
import { assetContent } from "./assets";
import { claim, field, idOf, isClaimed, map, moved, nameOf } from "./common";
import { releaseId } from "./digests";
import { importedVenv } from "./imports/venv";
import { type VenvInputs, venvInputs } from "./inputs";
import { baseForHost, baseOf, describeBase } from "./venvBase";
import { tellVenv } from "./venvChanges";
import { asLabelled, driftOf } from "./venvDrift";
import { tellForeseen } from "./venvForeseen";
import { type Made, tellMade } from "./venvMade";
import { neededRecipe, recipeOf } from "./venvRecipe";
import { withUv } from "./withUv";

export interface VenvWish extends VenvInputs {
    /** Id of the release, 12 hex digits; absent while an adopted base has not been looked at. */
    release?: string;
}

export interface VenvState extends Kept {
    root: string;
    name: string;
    base: Record<string, string>;
    release: string;
    overlays: string;
    patches: string;
    packages: Record<string, string>;
    files: Record<string, string>;
    keep: number;
}

/** A venv in immutable releases: a change makes a new one beside those that run, and nothing that runs is touched. */
export const venv: Resource<VenvInputs, VenvWish, VenvState> = {
    token: "sglang:index:Venv",
    inputs: venvInputs,
    resolved: ["release"],
    id: ({ connection, name }) => idOf(connection, "venv", name),

    async resolve(inputs, { facts, prior }) {
        const recipe = recipeOf(inputs, facts);
        if (recipe !== undefined) {
            return { ...inputs, release: releaseId(recipe) };
        }
        // Nobody could look: the same wish makes the same release.
        const release = prior !== undefined && same(madeOf(prior), madeOf(inputs)) ? prior.release : undefined;
        return release === undefined ? inputs : { ...inputs, release };
    },

    read(facts, id, prior) {
        const name = prior?.inputs.name ?? nameOf(id);
        const live: VenvFacts | undefined = facts.venvs[name];
        if (prior !== undefined && live?.owner !== prior.state.owner) {
            return isClaimed(facts, "venv", name, prior.state.owner) ? nothingMade(prior) : undefined;
        }
        if (live === undefined) {
            return undefined;
        }
        const made = live.release === null ? undefined : live.releases[live.release];
        const drift = driftOf(made, live.release ?? "");
        const recipe = made?.recipe;
        const labels = labelsOf(live.release, prior);
        return {
            owner: live.owner,
            machine: facts.machine.machineId,
            root: facts.root,
            name,
            base: describeBase(live.base, prior?.inputs.base),
            release: drift.release,
            overlays: recipe?.overlays ?? "",
            patches: recipe?.patches ?? "",
            packages: { ...labels.packages, ...drift.packages },
            files: { ...labels.files, ...asLabelled(drift.files, labels.files) },
            keep: prior?.state.keep ?? 3,
        };
    },

    imported: (facts, id, connection, host) => importedVenv(facts, nameOf(id), connection, host),

    diff(state, wanted) {
        const release = wanted.release === undefined ? [] : field(["release"], state.release, wanted.release);
        const layers = [
            ...field(["overlays"], state.overlays, wanted.overlays),
            ...field(["patches"], state.patches, wanted.patches),
        ];
        return [
            ...moved(state, wanted, "name"),
            ...map("base", state.base, describeBase(baseOf(wanted.base), wanted.base)),
            ...release,
            // A layer whose digest differs differs in the release too, when that is known.
            ...(release.length > 0 ? [] : layers),
            ...map("packages", state.packages, wanted.packages),
            ...map("files", state.files, wanted.files),
            ...field(["keep"], state.keep, wanted.keep),
        ];
    },

    async plan(wanted, prior, work) {
        const facts = await looked(wanted, work);
        const release = releaseId(neededRecipe(wanted, facts, work.host.label));
        if (prior !== undefined) {
            await tellVenv(wanted, prior, release, facts, work);
        } else if ("adopt" in wanted.base && facts.venvs[wanted.name] === undefined) {
            await tellForeseen(wanted.root, wanted.base.adopt, work);
        }
        return stateOf(wanted, release, prior?.owner ?? "", facts.machine.machineId);
    },

    async apply(wanted, _prior, work) {
        const facts = await looked(wanted, work);
        const recipe = neededRecipe(wanted, facts, work.host.label);
        const release = releaseId(recipe);
        if (wanted.release !== undefined && wanted.release !== release) {
            throw new HostError(work.host.label, {
                code: "moved",
                message: `the base of ${wanted.name} was changed since the preview`,
                found: `it would make release ${release}`,
                expected: wanted.release,
                remedy: "look at `pulumi preview` again, then run `pulumi up`",
            });
        }
        const { root, name, base, overlays, patches, accept, keep } = wanted;
        const requirements = "adopt" in base ? undefined : await assetContent(base.requirements);
        if (requirements !== undefined) {
            // They may name an index by a URL with an account.
            await work.host.send(root, [{ ...requirements, private: true }], work.progress);
        }
        const args = {
            root,
            claim: claim("venv", name, work),
            venv: name,
            release,
            recipe,
            overlays,
            patches,
            checks: { accept },
            keep,
            ...(verifying() && { verify: true }),
        };
        const made = await withUv(root, facts.machine, work, (uv) =>
            work.host.call<Made>("venv.make", { ...args, base: baseForHost(base, uv) }, work),
        );
        if (made.made) {
            tellMade(made, `${root}/venvs/${name}/releases/${release}.json`).map(work.info);
        }
        work.progress(`release ${release} ${made.made ? "made" : "was there already"}`);
        return stateOf(wanted, release, work.owner, facts.machine.machineId);
    },

    async remove({ root, name }, _state, work) {
        await work.host.call("venv.remove", { root, claim: claim("venv", name, work) }, work);
    },
};

function looked({ root, base }: VenvInputs, work: Work): Promise<HostFacts> {
    return work.host.look(root, "adopt" in base ? [base.adopt] : []);
}

function madeOf({ name, base, overlays, patches }: VenvInputs): unknown {
    return { name, base, overlays, patches };
}

/** What the release was made with, as it is shown. The host knows it by digest only. */
function labelsOf(
    release: string | null,
    prior: { inputs: VenvWish; state: VenvState } | undefined,
): Pick<VenvState, "packages" | "files"> {
    if (prior === undefined) {
        return { packages: {}, files: {} };
    }
    return (prior.inputs.release ?? prior.state.release) === release ? prior.inputs : prior.state;
}

/** A venv of which no release was ever made. */
function nothingMade({ inputs, state }: { inputs: VenvWish; state: VenvState }): VenvState {
    const { root, name, keep } = inputs;
    return { ...state, root, name, keep, base: {}, release: "", overlays: "", patches: "", packages: {}, files: {} };
}

function stateOf(
    { root, name, base, overlays, patches, packages, files, keep }: VenvWish,
    release: string,
    owner: string,
    machine: string,
): VenvState {
    return {
        owner,
        machine,
        root,
        name,
        base: describeBase(baseOf(base), base),
        release,
        overlays,
        patches,
        packages,
        files,
        keep,
    };
}

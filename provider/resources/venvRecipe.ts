import type { HostFacts, Recipe, VenvFacts } from "../host/facts";
import { HostError } from "../host/host";
import type { VenvInputs } from "./inputs";
import { keyOf } from "./venvBase";

/** What a release is made of; undefined when the adopted base has not been looked at, or is not there. */
export function recipeOf(
    { name, base, overlays, patches }: VenvInputs,
    facts: HostFacts | undefined,
): Recipe | undefined {
    if (!("adopt" in base)) {
        return { version: 1, base: { kind: "managed", key: keyOf(base) }, overlays, patches };
    }
    const venv = facts?.venvs[name];
    const path = base.adopt;
    const fingerprint =
        venv?.base.kind === "adopt" && venv.base.path === path
            ? (venv.base.fingerprint ?? copiedFrom(venv, path))
            : facts?.adoptable[path];
    return fingerprint == null
        ? undefined
        : { version: 1, base: { kind: "adopt", path, fingerprint }, overlays, patches };
}

/** What a venv that is gone was when it was adopted: our copy of it serves on. */
function copiedFrom({ releases, release }: VenvFacts, path: string): string | undefined {
    const base = release === null ? undefined : releases[release]?.recipe?.base;
    return base?.kind === "adopt" && base.path === path ? base.fingerprint : undefined;
}

/** The same, of a host that was looked at; HostError when there is nothing to adopt. */
export function neededRecipe(wanted: VenvInputs, facts: HostFacts, host: string): Recipe {
    const recipe = recipeOf(wanted, facts);
    if (recipe === undefined && "adopt" in wanted.base) {
        throw new HostError(host, {
            code: "no-base",
            message: `${wanted.base.adopt} is no venv`,
            where: wanted.base.adopt,
            expected: "a directory with pyvenv.cfg and bin/python",
            remedy: "name the venv to adopt by its own directory, or let one be made from python and requirements",
        });
    }
    return recipe as Recipe;
}

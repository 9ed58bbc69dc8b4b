import { hasAccount } from "../../accounts";
import type { Connection } from "../../connection";
import type { HostFacts, MadeBase } from "../../host/facts";
import { type Host, HostError } from "../../host/host";
import type { Imported } from "../../resource";
import { assetText } from "../assets";
import { short } from "../digests";
import type { VenvInputs } from "../inputs";
import { textAsset } from "./patches";

/** A venv as one would declare it; the locked requirements of its base come from the host's store. */
export async function importedVenv(
    facts: HostFacts,
    name: string,
    connection: Connection,
    host: Host,
): Promise<Imported<VenvInputs>> {
    const { root } = facts;
    const live = facts.venvs[name];
    if (live === undefined) {
        return undefined;
    }
    const base = live.base.kind === "adopt" ? { adopt: live.base.path } : await managed(live.base.made, facts, host);
    const account = "requirements" in base && hasAccount(await assetText(base.requirements));
    const recipe = live.release === null ? undefined : live.releases[live.release]?.recipe;
    const [overlays, patches] = [recipe?.overlays ?? "", recipe?.patches ?? ""];
    const [over, patched] = [facts.overlays[name], facts.patches[name]];
    return {
        inputs: {
            connection,
            root,
            name,
            base,
            overlays,
            patches,
            packages: over?.digest === overlays ? over.packages : {},
            files: patched?.digest === patches ? shortened(patched.files) : {},
            accept: [],
            keep: 3,
        },
        ...(account && { secrets: [["base", "requirements"]] }),
    };
}

async function managed(made: MadeBase | undefined, { root }: HostFacts, host: Host): Promise<VenvInputs["base"]> {
    const { python, requirements, noDeps = true, ...index } = made ?? {};
    if (python === undefined || requirements === undefined) {
        throw new HostError(host.label, {
            code: "no-origin",
            message:
                "the venv's base was made by an older version, which did not keep what it is made of, so it cannot be imported",
            where: root,
            remedy: "declare it, and set `takeOver: true` if another stack made what is there",
        });
    }
    const asset = await textAsset(host, root, requirements, "the file of locked requirements");
    return { python, requirements: asset, noDeps, ...index };
}

/** `<kind> <12 hex>`, as a SourcePatch gives them. */
function shortened(files: Record<string, string>): Record<string, string> {
    return Object.fromEntries(
        Object.entries(files).map(([name, label]) => [name, label.replace(/[0-9a-f]{64}$/, short)]),
    );
}

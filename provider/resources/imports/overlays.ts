import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { canonical } from "../../canonical";
import type { Connection } from "../../connection";
import type { Pins } from "../../donors/pin";
import type { HostFacts, OverlayOrigin } from "../../host/facts";
import { type Host, HostError } from "../../host/host";
import { reached } from "../../inventory";
import type { Imported } from "../../resource";
import type { Overlay, PackageOverlayInputs } from "../inputs";

/** Where wheels of an import are put, below the project. */
const FOLDER = "wheels";

/** The overlays of a venv as one would declare them. Wheels that the project does not have are fetched into `wheels/`. */
export async function importedOverlays(
    facts: HostFacts,
    venv: string,
    connection: Connection,
    host: Host,
): Promise<Imported<PackageOverlayInputs>> {
    const { root } = facts;
    const staged = facts.overlays[venv];
    if (staged === undefined) {
        return undefined;
    }
    const overlays: Overlay[] = [];
    const pins: Pins = {};
    let group = "";
    for (const { packages, source } of staged.origins ?? []) {
        const { kind, ...donor } = source ?? { kind: "none" };
        const same = kind === "donor" ? canonical({ ...donor, listing: null }) : "";
        if (source?.kind === "donor") {
            note(pins, source, packages[0], staged.packages);
        }
        // An overlay of a donor is a tree for each of its distributions.
        if (same === "" || same !== group) {
            const names = source?.kind === "donor" ? source.asked : packages;
            overlays.push({ packages: names, from: await declared(source, { packages, root, host }) });
        }
        group = same;
    }
    const live = facts.venvs[venv]?.base;
    const base = live === undefined ? undefined : live.kind === "adopt" ? { adopt: live.path } : python(live.made);
    return { inputs: { connection, root, venv, ...(base && { base }), overlays }, pins };
}

/** What lies there is what was taken. When it was taken, and for which Python, only the donor can say. */
function note(
    pins: Pins,
    { listing, venv, host }: Extract<OverlayOrigin, { kind: "donor" }>,
    name: string,
    staged: Record<string, string>,
): void {
    const donor = host === undefined ? venv : `${host}:${venv}`;
    const version = staged[name]?.split(" ")[0] ?? "";
    pins[donor] = { ...pins[donor], [name]: { version, digest: listing, stamp: "", tags: [] } };
}

async function declared(
    source: OverlayOrigin | null,
    { packages, root, host }: { packages: string[]; root: string; host: Host },
): Promise<Overlay["from"]> {
    if (source?.kind === "wheel") {
        const path = join(FOLDER, source.filename);
        if (!existsSync(path)) {
            await mkdir(dirname(path), { recursive: true });
            await writeFile(path, await host.fetch(root, source.sha256), { flag: "wx" });
        }
        return { wheel: path };
    }
    if (source?.kind === "donor") {
        const connection = source.host === undefined ? undefined : await reached(source.host);
        return { venv: source.venv, ...(connection && { connection }) };
    }
    if (source?.kind === "directory" && source.archive !== undefined) {
        const { archive, sha256, version } = source;
        return { archive, ...(sha256 && { sha256 }), ...(version && { version }) };
    }
    if (source?.kind === "index") {
        const { requirement, indexUrl, extraIndexUrl, findLinks } = source;
        return {
            index: requirement,
            ...(indexUrl && { indexUrl }),
            ...(extraIndexUrl && { extraIndexUrl }),
            ...(findLinks && { findLinks }),
        };
    }
    throw new HostError(host.label, {
        code: "no-origin",
        message: `the overlay of ${packages.join(", ") || "an older version"} came from a directory, which the host does not keep as one, so it cannot be imported`,
        where: root,
        remedy: "declare it by its directory, and set `takeOver: true` if another stack made what is there",
    });
}

function python(made: { python?: string } | undefined): { python: string } | undefined {
    return made?.python === undefined ? undefined : { python: made.python };
}

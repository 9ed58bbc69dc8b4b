import * as pulumi from "@pulumi/pulumi";
import type { PlacedArgs } from "./connection";
import { PackageOverlay, type PackageOverlayArgs } from "./packageOverlay";
import { SourcePatch, type SourcePatchArgs } from "./sourcePatch";
import { Venv, type VenvArgs } from "./venv";

/** A venv on a host, in its layers. */
export interface HostedVenvArgs {
    /** An adopted venv, or python and locked requirements. */
    base: VenvArgs["base"];
    /** Distributions laid over the base, in order. Default: none. */
    overlays?: PackageOverlayArgs["overlays"];
    /** Files of installed packages that are replaced or changed. Default: none. */
    patches?: SourcePatchArgs["patches"];
    /** Distributions whose requirements may stay unmet; `*` = all. Default: none. */
    accept?: VenvArgs["accept"];
    /** Releases that are kept for going back. Default: 3. */
    keep?: VenvArgs["keep"];
}

/** The resources of one venv on a host; the layers only when there is something in them. */
export interface HostedVenv {
    overlay?: PackageOverlay;
    patch?: SourcePatch;
    venv: Venv;
}

/** Makes `<host>-<venv>-overlays`, `<host>-<venv>-patches` and `<host>-<venv>`. */
export function hostedVenv(
    venv: string,
    args: HostedVenvArgs,
    at: PlacedArgs,
    opts: pulumi.CustomResourceOptions,
): HostedVenv {
    const prefix = `${at.connection.name}-${venv}`;
    const { base, overlays, patches, accept, keep } = args;
    const overlay =
        overlays && filled(overlays)
            ? new PackageOverlay(`${prefix}-overlays`, { ...at, venv, base: pythonOf(base), overlays }, opts)
            : undefined;
    const patch =
        patches && filled(patches) ? new SourcePatch(`${prefix}-patches`, { ...at, venv, patches }, opts) : undefined;
    const layers = {
        ...(overlay && { overlays: overlay.digest, packages: overlay.packages }),
        ...(patch && { patches: patch.digest, files: patch.files }),
    };
    return { overlay, patch, venv: new Venv(prefix, { ...at, name: venv, base, accept, keep, ...layers }, opts) };
}

/** A list with something in it, or one that is not known yet. */
function filled(list: object): boolean {
    return !Array.isArray(list) || list.length > 0;
}

/** The part of a base that says which Python it has. */
function pythonOf(base: VenvArgs["base"]): PackageOverlayArgs["base"] {
    return pulumi.output(base).apply((known) => ("adopt" in known ? { adopt: known.adopt } : { python: known.python }));
}

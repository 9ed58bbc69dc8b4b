import * as pulumi from "@pulumi/pulumi";
import type { z } from "zod";
import type { Pins } from "../provider/donors/pin";
import type { packageOverlayInputs } from "../provider/resources/inputs";
import { plain, sealedAccounts } from "./accounts";
import { type ConnectionArgs, type PlacedArgs, sealed } from "./connection";
import type { Fields } from "./given";

type Inputs = z.input<typeof packageOverlayInputs>;

/** Which venv the overlays are for, and the overlays in order. */
export type PackageOverlayArgs = Fields<Omit<Inputs, keyof PlacedArgs>> & PlacedArgs;

/** Distributions that are laid over the base of a venv, staged on the host. */
export class PackageOverlay extends pulumi.CustomResource {
    /** What a Venv takes as `overlays`: it changes when any byte of any overlay does. */
    declare readonly digest: pulumi.Output<string>;
    /** Distribution => `<version> <digest>` of what is staged. */
    declare readonly packages: pulumi.Output<Record<string, string>>;
    /** Donor => distribution => what was taken from it; absent without donors. */
    declare readonly pins: pulumi.Output<Pins | undefined>;

    constructor(name: string, args: PackageOverlayArgs, opts?: pulumi.CustomResourceOptions) {
        super(
            "sglang:index:PackageOverlay",
            name,
            {
                ...{ digest: undefined, packages: undefined, pins: undefined },
                ...args,
                overlays: sealedSources(args.overlays),
                connection: sealed(args.connection),
            },
            opts,
        );
    }
}

/** The same overlays, with the passwords of donors and the accounts in URLs marked as secrets. What is an output as a whole has the marks that its maker gave it. */
function sealedSources(given: PackageOverlayArgs["overlays"]): PackageOverlayArgs["overlays"] {
    return Array.isArray(given) ? given.map(sealedSource) : given;
}

function sealedSource(overlay: Extract<PackageOverlayArgs["overlays"], unknown[]>[number]): typeof overlay {
    if (!plain(overlay) || !plain(overlay.from)) {
        return overlay;
    }
    const from = sealedAccounts(overlay.from);
    const reached = "connection" in from ? from.connection : undefined;
    const connection = plain(reached) && { connection: sealed(reached as ConnectionArgs) };
    return { ...overlay, from: { ...from, ...connection } } as typeof overlay;
}

import * as pulumi from "@pulumi/pulumi";
import type { z } from "zod";
import type { Pins } from "../provider/donors/pin";
import type { packageOverlayInputs } from "../provider/resources/inputs";
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
                overlays: sealedDonors(args.overlays),
                connection: sealed(args.connection),
            },
            opts,
        );
    }
}

/** The same overlays, with the passwords of donors marked as secrets. What is an output as a whole has the marks that its maker gave it. */
function sealedDonors(given: PackageOverlayArgs["overlays"]): PackageOverlayArgs["overlays"] {
    return Array.isArray(given) ? given.map(sealedDonor) : given;
}

function sealedDonor(overlay: Extract<PackageOverlayArgs["overlays"], unknown[]>[number]): typeof overlay {
    const from = plain(overlay) && plain(overlay.from) ? overlay.from : undefined;
    const reached = from && "connection" in from ? from.connection : undefined;
    return plain(reached)
        ? ({ ...overlay, from: { ...from, connection: sealed(reached as ConnectionArgs) } } as typeof overlay)
        : overlay;
}

function plain(value: unknown): value is Record<string, unknown> {
    return (
        typeof value === "object" && value !== null && !pulumi.Output.isInstance(value) && !(value instanceof Promise)
    );
}

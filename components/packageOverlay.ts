import * as pulumi from "@pulumi/pulumi";
import type { z } from "zod";
import type { packageOverlayInputs } from "../provider/resources/inputs";
import { type PlacedArgs, sealed } from "./connection";
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

    constructor(name: string, args: PackageOverlayArgs, opts?: pulumi.CustomResourceOptions) {
        super(
            "sglang:index:PackageOverlay",
            name,
            { digest: undefined, packages: undefined, ...args, connection: sealed(args.connection) },
            opts,
        );
    }
}

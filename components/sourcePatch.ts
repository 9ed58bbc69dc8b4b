import * as pulumi from "@pulumi/pulumi";
import type { z } from "zod";
import type { sourcePatchInputs } from "../provider/resources/inputs";
import { type PlacedArgs, sealed } from "./connection";
import type { Fields } from "./given";

type Inputs = z.input<typeof sourcePatchInputs>;

/** Which venv the patches are for, and the patches in order. */
export type SourcePatchArgs = Fields<Omit<Inputs, keyof PlacedArgs>> & PlacedArgs;

/** Patches to files of installed packages, staged on the host. */
export class SourcePatch extends pulumi.CustomResource {
    /** What a Venv takes as `patches`: it changes when any byte of any patch does. */
    declare readonly digest: pulumi.Output<string>;
    /** Patched file => `<kind> <sha256>` of what is staged. */
    declare readonly files: pulumi.Output<Record<string, string>>;

    constructor(name: string, args: SourcePatchArgs, opts?: pulumi.CustomResourceOptions) {
        super(
            "sglang:index:SourcePatch",
            name,
            { digest: undefined, files: undefined, ...args, connection: sealed(args.connection) },
            opts,
        );
    }
}

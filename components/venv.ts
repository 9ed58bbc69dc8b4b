import * as pulumi from "@pulumi/pulumi";
import type { z } from "zod";
import type { venvInputs } from "../provider/resources/inputs";
import { sealedAccounts } from "./accounts";
import { type PlacedArgs, sealed } from "./connection";
import type { Fields } from "./given";

type Inputs = z.input<typeof venvInputs>;

/** The base of a venv and the digests of the layers above it. */
export type VenvArgs = Fields<Omit<Inputs, keyof PlacedArgs>> & PlacedArgs;

/** A venv on a host, in releases that are never edited: each change makes a new one beside those that run. */
export class Venv extends pulumi.CustomResource {
    /** Id of the release that is wanted; what an SglangService runs. */
    declare readonly release: pulumi.Output<string>;
    /** Overlaid distribution => `<version> <digest>`. */
    declare readonly packages: pulumi.Output<Record<string, string>>;
    /** Patched file => `<kind> <sha256>`. */
    declare readonly files: pulumi.Output<Record<string, string>>;

    constructor(name: string, args: VenvArgs, opts?: pulumi.CustomResourceOptions) {
        super(
            "sglang:index:Venv",
            name,
            {
                release: undefined,
                ...args,
                base: sealedAccounts(args.base),
                connection: sealed(args.connection),
            },
            opts,
        );
    }
}

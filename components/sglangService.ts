import * as pulumi from "@pulumi/pulumi";
import type { z } from "zod";
import type { sglangServiceInputs } from "../provider/resources/inputs";
import type { Patched } from "../provider/resources/servicePatched";
import { type PlacedArgs, sealed } from "./connection";
import type { Fields } from "./given";

type Inputs = z.input<typeof sglangServiceInputs>;

/** The process: what it runs, with which arguments, kept by which supervisor. Keys become secrets whatever they were before. */
export type SglangServiceArgs = Fields<Omit<Inputs, keyof PlacedArgs>> & PlacedArgs;

/** One SGLang server on a host. The only resource that touches what runs; it proves each change and goes back by itself. */
export class SglangService extends pulumi.CustomResource {
    /** Where it answers, e.g. `http://10.1.2.200:30001`. */
    declare readonly endpoint: pulumi.Output<string>;
    /** Release that it runs from. */
    declare readonly release: pulumi.Output<string>;
    /** Package => version, of those that say what serves: as the release's metadata has them. */
    declare readonly versions: pulumi.Output<Record<string, string>>;
    /** Module => which file of it runs, whether that is the declared one, and whether the process is newer than it. */
    declare readonly patched: pulumi.Output<Patched>;

    constructor(name: string, args: SglangServiceArgs, opts?: pulumi.CustomResourceOptions) {
        const keys = {
            ...(args.apiKey === undefined ? {} : { apiKey: pulumi.secret(args.apiKey) }),
            ...(args.adminApiKey === undefined ? {} : { adminApiKey: pulumi.secret(args.adminApiKey) }),
        };
        super(
            "sglang:index:SglangService",
            name,
            {
                endpoint: undefined,
                versions: undefined,
                patched: undefined,
                ...args,
                ...keys,
                connection: sealed(args.connection),
            },
            opts,
        );
    }
}

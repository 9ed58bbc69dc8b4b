import * as pulumi from "@pulumi/pulumi";
import type { z } from "zod";
import type { envVarsInputs } from "../provider/resources/inputs";
import { type PlacedArgs, sealed } from "./connection";
import type { Fields } from "./given";

type Inputs = z.input<typeof envVarsInputs>;

/** The service and its variables; mark single values as secrets, not the map, and the others stay readable. */
export type EnvVarsArgs = Fields<Omit<Inputs, keyof PlacedArgs>> & PlacedArgs;

/** Environment of one service, staged on the host in a file that only its owner reads. */
export class EnvVars extends pulumi.CustomResource {
    /** What an SglangService takes as `env`: it changes when any variable does. */
    declare readonly digest: pulumi.Output<string>;

    constructor(name: string, args: EnvVarsArgs, opts?: pulumi.CustomResourceOptions) {
        super("sglang:index:EnvVars", name, { digest: undefined, ...args, connection: sealed(args.connection) }, opts);
    }
}

import * as pulumi from "@pulumi/pulumi";

/** A key of the user's, or `generate`: a random one that is made once, kept in the state as a secret, and stays. */
export type ApiKey = "generate" | pulumi.Input<string>;

/**
 * The key as a secret. Only `generate` loads the `@pulumi/random` package, whose plugin nothing else needs. Letters and
 * digits only: the key goes into headers and YAML as it is.
 */
export function apiKey(
    name: string,
    given: ApiKey | undefined,
    opts: pulumi.CustomResourceOptions,
): pulumi.Output<string> | undefined {
    if (given === undefined) {
        return undefined;
    }
    if (given !== "generate") {
        return pulumi.secret(given);
    }
    const { RandomPassword } = require("@pulumi/random") as typeof import("@pulumi/random");
    return pulumi.secret(new RandomPassword(name, { length: 40, special: false }, opts).result);
}

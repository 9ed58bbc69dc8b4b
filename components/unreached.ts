import * as pulumi from "@pulumi/pulumi";
import { isEngineGone } from "./engineGone";

/** A host that could not be looked at, and why. */
export interface Unreached {
    host: string;
    message: string;
}

/**
 * Asks the provider, once it has dealt with all of `resources`, which hosts it could not look at. Reads of such a host
 * return what the state says, so that other hosts still get their preview; without this question nobody would be told.
 */
export function unreached(resources: pulumi.Resource[]): pulumi.Output<Unreached[]> {
    return pulumi.all(resources.map((resource) => resource.urn)).apply(async () => {
        try {
            const answer = await pulumi.runtime.invoke("sglang:index:unreached", {}, { async: true });
            return answer.hosts as Unreached[];
        } catch (error) {
            if (isEngineGone(error)) {
                return []; // the command was cancelled, and says so itself
            }
            throw error;
        }
    });
}

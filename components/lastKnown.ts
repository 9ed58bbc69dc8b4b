import * as pulumi from "@pulumi/pulumi";
import { isEngineGone } from "./engineGone";

/**
 * An output of a resource; where its change failed, and the engine so lets go of all its outputs, what the provider last saw there.
 * Undefined where there was nothing: it was to be created, or its host never answered.
 */
export function lastKnown<T>(
    resource: pulumi.Resource,
    name: string,
    output: pulumi.Output<T>,
): pulumi.Output<T | undefined> {
    if (pulumi.runtime.isDryRun()) {
        return output; // what a preview does not know is still to be made
    }
    const known = isKnown(output).then((is) => (is ? output : seen<T>(resource, name)));
    return pulumi.output(known) as pulumi.Output<T | undefined>;
}

/** Not in the SDK's declarations, and the only way to tell what is not known from what is not there. */
function isKnown(output: pulumi.Output<unknown>): Promise<boolean> {
    return (output as unknown as { isKnown: Promise<boolean> }).isKnown;
}

function seen<T>(resource: pulumi.Resource, name: string): pulumi.Output<T | undefined> {
    return resource.urn.apply(async (urn) => {
        try {
            const answer = await pulumi.runtime.invoke("sglang:index:lastSeen", { urn, name }, { async: true });
            return answer.value as T | undefined;
        } catch (error) {
            if (isEngineGone(error)) {
                return undefined; // the command ends with its own error
            }
            throw error;
        }
    });
}

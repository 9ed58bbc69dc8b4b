import type { Context } from "./context";
import { explain } from "./errors";
import type { Properties } from "./wire";

/** What a program may ask the provider besides its resources; by token. */
export const FUNCTIONS: Record<string, (context: Context, args: Properties) => Properties> = {
    /** Hosts that could not be looked at, or not at all that is on them, each with the reason. */
    "sglang:index:unreached": ({ hosts, declared, secrets }) => ({
        hosts: hosts
            .allUnreached((name) => declared.hostLeft(name))
            .map(([host, error]) => ({ host, message: secrets.redact(explain(error)) })),
    }),
    /** `{urn, name}`: the output `name` of a resource as it was last seen; no `value` where none is known. */
    "sglang:index:lastSeen": ({ lastSeen }, { urn, name }) => {
        const value = lastSeen.value(String(urn), String(name));
        return value === undefined ? {} : { value };
    },
};

import { z } from "zod";
import { fleet } from "../../components/config/fleet";

/** As much of a JSON Schema as the config's schema makes use of. */
export interface Schema {
    description?: string;
    type?: string | string[];
    properties?: Record<string, Schema>;
    required?: string[];
    additionalProperties?: boolean | Schema;
    items?: Schema;
    anyOf?: Schema[];
    enum?: unknown[];
    const?: unknown;
    pattern?: string;
    $ref?: string;
    $defs?: Record<string, Schema>;
}

/** The value of the key `sglang-fleet:fleet`, with a definition for each kind of thing in it. */
export function fleetSchema(): Schema {
    return z.toJSONSchema(fleet, { io: "input" }) as Schema;
}

/** A whole stack file, for editors: what stands beside our key in it is no matter of ours. */
export function stackSchema(): Schema {
    const { $schema, $defs, ...value } = fleetSchema() as Schema & { $schema: string };
    return {
        $schema,
        title: "Pulumi.<stack>.yaml of sglang-fleet",
        type: "object",
        properties: { config: { type: "object", properties: { "sglang-fleet:fleet": { $ref: "#/$defs/fleet" } } } },
        $defs: { fleet: value, ...$defs },
    } as Schema;
}

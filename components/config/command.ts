import { z } from "zod";
import { secretRef } from "./secret";
import { strict } from "./strict";
import { scalar, text, texts } from "./text";

/** A command of the user's own, before or after what this project does; needs the `command` plugin of Pulumi. */
export const command = strict({
    run: z.union([text, texts.min(1)]).describe("A script for `sh`, or a list of words that no shell looks at."),
    on: z
        .enum(["host", "control"])
        .optional()
        .describe("Where it runs: on the host, or on the control machine in the project's directory. Default: host."),
    env: z
        .record(z.string(), z.union([secretRef, scalar]))
        .optional()
        .describe("Variables for it; text, whole number or { secret: NAME }. Default: none."),
}).meta({ id: "command", description: "A command of your own; needs Pulumi's `command` plugin." });

export type CommandConfig = z.infer<typeof command>;

import { z } from "zod";
import { name, placed } from "./placed";

const variables = z
    .record(z.string(), z.string())
    .superRefine((values, context) => {
        for (const [key, value] of Object.entries(values)) {
            if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) {
                context.addIssue({
                    code: "custom",
                    path: [key],
                    message: "not a name of a variable: expected letters, digits and `_`, not beginning with a digit",
                });
            }
            if (value.includes("\0")) {
                context.addIssue({
                    code: "custom",
                    path: [key],
                    message: "its value has a NUL byte, which no environment can hold",
                });
            }
        }
    })
    .describe("Variables by name; text, passed on byte for byte. A secret value stays secret by itself.");

export const envVarsInputs = z
    .strictObject({
        ...placed,
        service: name.describe("The service (by its name on the host) that gets these variables."),
        variables,
    })
    .describe("Environment of one service, staged on the host in a file that only its owner reads.");

export type EnvVarsInputs = z.infer<typeof envVarsInputs>;

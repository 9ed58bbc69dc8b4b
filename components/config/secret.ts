import { z } from "zod";
import { strict } from "./strict";

/** A value that is kept in a config key of its own: `{ secret: hfToken }`. */
export const secretRef = strict({
    secret: z.string().min(1).describe("Name of a config key of its own, made by `pulumi config set --secret NAME`."),
}).meta({ id: "secret", description: "A value kept in a config key of its own, which is encrypted there." });

export type SecretRef = z.infer<typeof secretRef>;

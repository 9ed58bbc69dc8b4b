import { z } from "zod";
import { asset } from "./asset";
import { digest, hostPath, index, name, placed } from "./placed";

const adopted = z
    .strictObject({
        adopt: hostPath.describe(
            "An existing venv on the host; absolute path. It is copied once, and never written to.",
        ),
    })
    .describe("A venv that is there already.");

const managed = z
    .strictObject({
        python: z
            .string()
            .min(1)
            .describe(
                "Python of the venv: a version that uv finds or fetches (`3.12`), or an absolute path on the host.",
            ),
        requirements: asset.describe("Locked requirements, as `uv pip compile` writes them; asset."),
        ...index,
        noDeps: z
            .boolean()
            .default(true)
            .describe("Install just what the file lists. Default: true (the file is locked)."),
    })
    .describe("A venv made by uv from locked requirements.");

/** What a venv starts from. */
export const base = z
    .union([adopted, managed])
    .describe("What the venv starts from: adopt, or python and requirements.");

export const venvInputs = z
    .strictObject({
        ...placed,
        name: name.describe("Name of the venv on the host."),
        base,
        overlays: digest
            .default("")
            .describe("`digest` of the PackageOverlay that is laid over the base. Default: none."),
        patches: digest.default("").describe("`digest` of the SourcePatch that is applied last. Default: none."),
        packages: z
            .record(z.string(), z.string())
            .default({})
            .describe("`packages` of the PackageOverlay, so that each shows as a line of its own. Default: none."),
        files: z
            .record(z.string(), z.string())
            .default({})
            .describe("`files` of the SourcePatch, so that each shows as a line of its own. Default: none."),
        accept: z
            .array(z.string().min(1))
            .default([])
            .describe(
                "Distributions whose requirements may stay unmet; names, `*` = all. Default: none; what the layers broke stops the release.",
            ),
        keep: z.int().min(1).max(100).default(3).describe("Releases that are kept for going back; number. Default: 3."),
    })
    .describe("A venv in immutable releases: base, then overlays, then patches.");

export type Base = z.infer<typeof base>;
export type VenvInputs = z.infer<typeof venvInputs>;

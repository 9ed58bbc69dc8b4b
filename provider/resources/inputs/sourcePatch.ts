import { z } from "zod";
import { asset } from "./asset";
import { name, placed } from "./placed";

/** One file of an installed package that is replaced or changed. */
export const patch = z
    .strictObject({
        module: z
            .string()
            .regex(/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/, "expected a dotted module name")
            .optional()
            .describe(
                "The module whose source file is meant, e.g. `sglang.srt.speculative.spec_info`. Either this or `path`.",
            ),
        path: z
            .string()
            .regex(/^(?!\/)(?!.*(^|\/)\.\.(\/|$))[^\0\n]+$/, "expected a path below site-packages, without `..`")
            .optional()
            .describe("The file below site-packages, e.g. `sglang/srt/server_args.py`. Either this or `module`."),
        file: asset.optional().describe("The whole new file; asset. Either this or `diff`."),
        diff: asset
            .optional()
            .describe("A unified diff of one file, applied without fuzz; asset. Either this or `file`."),
        pre: z
            .string()
            .regex(/^[0-9a-f]{64}$/, "expected a sha256 (64 hex digits)")
            .optional()
            .describe(
                "sha256 of the file that is to be patched; another one is refused. Default: not checked for a file, the diff's context for a diff.",
            ),
    })
    .refine((one) => (one.module === undefined) !== (one.path === undefined), {
        error: "expected either `module` or `path`",
    })
    .refine((one) => (one.file === undefined) !== (one.diff === undefined), {
        error: "expected either `file` or `diff`",
    })
    .describe("One file of an installed package, replaced by `file` or changed by `diff`.");

export const sourcePatchInputs = z
    .strictObject({
        ...placed,
        venv: name.describe("The venv (by its name on the host) that these patches are for."),
        patches: z.array(patch).describe("In order; at most one for each file."),
    })
    .describe("Patches to files of installed packages, staged on the host.");

export type Patch = z.infer<typeof patch>;
export type SourcePatchInputs = z.infer<typeof sourcePatchInputs>;

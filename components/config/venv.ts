import { z } from "zod";
import { sshDestination } from "../../provider/resources/inputs/packageOverlay";
import { index } from "../../provider/resources/inputs/placed";
import { patch as patchInputs } from "../../provider/resources/inputs/sourcePatch";
import { venvInputs } from "../../provider/resources/inputs/venv";
import { venvChecks } from "./checks";
import { open } from "./open";
import { exactlyOne, strict } from "./strict";
import { text, texts } from "./text";

/** What a venv starts from: exactly one of `adopt` and `python`. */
const base = exactlyOne(
    strict({
        adopt: text
            .optional()
            .describe(
                "An existing venv on the host; absolute path. It is copied once, and never written to. Either this or `python`.",
            ),
        python: text
            .optional()
            .describe(
                'Python of a new venv: a version that uv finds or fetches (`"3.12"`, in quotes), or an absolute path on the host. Either this or `adopt`.',
            ),
        requirements: text
            .optional()
            .describe(
                "Locked requirements, as `uv pip compile` writes them; path relative to the project. Needed with `python`.",
            ),
        ...index,
        noDeps: z
            .boolean()
            .optional()
            .describe("Install just what the file lists. Default: true (the file is locked)."),
    }),
    ["adopt", "python"],
)
    .refine((one) => one.python === undefined || one.requirements !== undefined, {
        path: ["requirements"],
        error: "is missing: `python` makes a new venv from locked requirements",
    })
    .meta({ id: "base", description: "What a venv starts from: `adopt`, or `python` and `requirements`." });

/** Where the bytes of distributions come from: exactly one of `wheel`, `directory`, `index`. */
const from = exactlyOne(
    strict({
        wheel: text
            .optional()
            .describe("A wheel on the control machine; path relative to the project. Either this or another source."),
        directory: text
            .optional()
            .describe(
                "Directory on the control machine, laid out like site-packages; path relative to the project. Either this or another source.",
            ),
        version: text
            .optional()
            .describe(
                "With `directory` and `archive`: the version to show when it holds no .dist-info. Default: that of its .dist-info, else `0+` and the first digits of its digest.",
            ),
        archive: text
            .optional()
            .describe(
                "A `.tar.gz` or `.tar.zst` that is laid out like site-packages; path relative to the project, or URL. Either this or another source.",
            ),
        sha256: text
            .optional()
            .describe("With `archive`: its sha256, 64 hex digits. Needed with a URL. Default: a file may be any."),
        index: text
            .optional()
            .describe(
                "One pinned requirement like `torch==2.11.0+cu130`; installed by uv on the host, without its dependencies. Either this or another source.",
            ),
        ...index,
        venv: text
            .optional()
            .describe(
                "A venv that is there already, on `host`; absolute path. It is read, and never written to. Either this or another source.",
            ),
        host: text
            .optional()
            .describe(
                "With `venv`: the host that it lies on, by its name under `hosts`. Default: the host that takes.",
            ),
        direct: sshDestination
            .optional()
            .describe(
                "With `host`: how the host that takes reaches it by its own ssh: `user@address`, or an alias of the ssh config of the user that the agent runs as there. The bytes then go from host to host, once for each that takes. Default: they go through this machine.",
            ),
        pin: z
            .boolean()
            .optional()
            .describe(
                "With `venv`: whether what was taken first stays, whatever the donor has later. Default: false, `up` takes what it has then.",
            ),
    }),
    ["wheel", "directory", "archive", "index", "venv"],
)
    .refine((one) => !/^https?:/.test(one.archive ?? "") || one.sha256 !== undefined, {
        path: ["sha256"],
        error: "is missing: what a URL brings is compared with it",
    })
    .refine((one) => one.venv !== undefined || one.host === undefined, {
        path: ["host"],
        error: "goes with `venv`: it says where that lies",
    })
    .refine((one) => one.host !== undefined || one.direct === undefined, {
        path: ["direct"],
        error: "goes with `host`: it says how that is reached by the host that takes",
    })
    .refine((one) => one.venv !== undefined || one.pin === undefined, {
        path: ["pin"],
        error: "goes with `venv`: every other source says by itself what it brings",
    })
    .meta({
        id: "from",
        description: "Where distributions come from: one of `wheel`, `directory`, `archive`, `index`, `venv`.",
    });

/** Distributions that are laid over the base, with one source. */
const overlay = strict({
    packages: texts
        .min(1)
        .optional()
        .describe(
            "Names of the distributions that the source brings; with `venv` also patterns such as `nvidia-*`. Default for a wheel and an index: the one it names; needed for a directory, an archive and a venv.",
        ),
    from: from.describe("Where the bytes come from."),
})
    .refine((one) => one.from.directory === undefined || one.packages !== undefined, {
        path: ["packages"],
        error: "is missing: a `directory` does not say which distributions it brings",
    })
    .refine((one) => one.from.archive === undefined || one.packages !== undefined, {
        path: ["packages"],
        error: "is missing: an `archive` does not say which distributions it brings",
    })
    .refine((one) => one.from.venv === undefined || one.packages !== undefined, {
        path: ["packages"],
        error: "is missing: a `venv` has many distributions; name those to take, or patterns such as `nvidia-*`",
    })
    .refine((one) => one.from.venv !== undefined || !one.packages?.some((name) => /[*?]/.test(name)), {
        path: ["packages"],
        error: "patterns are for a `venv`; the other sources bring what is named",
    })
    .meta({ id: "overlay", description: "Distributions laid over the base, with one source." });

/** One file of an installed package, replaced (`file`) or changed (`diff`). */
const patch = exactlyOne(
    exactlyOne(
        strict({
            module: patchInputs.shape.module,
            path: patchInputs.shape.path,
            file: text
                .optional()
                .describe(
                    "The whole new file; path relative to the project. Either this or `diff`. Where the venv has no such file, it is added.",
                ),
            diff: text
                .optional()
                .describe(
                    "A unified diff of one file, applied without fuzz; path relative to the project. Either this or `file`.",
                ),
            pre: patchInputs.shape.pre,
        }),
        ["module", "path"],
    ),
    ["file", "diff"],
).meta({ id: "patch", description: "One file of an installed package, replaced by `file` or changed by `diff`." });

/** A venv: base, then overlays, then patches, in immutable releases. */
export const venv = strict({
    base: base.describe("What it starts from."),
    overlays: z
        .array(overlay)
        .optional()
        .describe("Distributions laid over the base, in order; a later one wins. Default: none."),
    patches: z
        .array(patch)
        .optional()
        .describe(
            "Files of installed packages that are replaced or changed; at most one for each file. Default: none.",
        ),
    checks: venvChecks
        .optional()
        .describe(
            "What a release must pass for each service that runs from it. Default: nothing beyond the service's own.",
        ),
    keep: open(venvInputs.shape.keep),
}).meta({ id: "venv", description: "A venv: base, then overlays, then patches, in releases that are never edited." });

export type VenvConfig = z.infer<typeof venv>;

import { z } from "zod";
import { connection } from "../../connection";
import { asset } from "./asset";
import { hostPath, index, name, placed } from "./placed";

const wheel = z
    .strictObject({
        wheel: z
            .union([asset, z.string().min(1)])
            .describe("A wheel on the control machine: asset, or path relative to the project."),
    })
    .describe("One wheel.");

const directory = z
    .strictObject({
        directory: z
            .string()
            .min(1)
            .describe("Directory on the control machine, laid out like site-packages; path relative to the project."),
        version: z
            .string()
            .min(1)
            .optional()
            .describe(
                "Version to show when the directory holds no .dist-info; text. Default: that of its .dist-info, else `0+` and the first digits of its digest.",
            ),
    })
    .describe("A tree that is laid into site-packages as it is.");

const fromIndex = z
    .strictObject({
        index: z
            .string()
            .regex(
                /^[A-Za-z0-9][A-Za-z0-9._-]*(\[[^\]]*\])?==[^\s;*]+$/,
                "expected one pinned requirement like `torch==2.11.0+cu130`",
            )
            .describe(
                "One pinned requirement, `name==version`; installed by uv on the host, without its dependencies.",
            ),
        ...index,
    })
    .describe("A distribution of a package index, fetched by the host.");

const archive = z
    .strictObject({
        archive: z
            .string()
            .min(1)
            .describe(
                "A `.tar.gz` or `.tar.zst` that is laid out like site-packages; path relative to the project, or URL.",
            ),
        sha256: z
            .string()
            .regex(/^[0-9a-f]{64}$/, "expected a sha256 (64 hex digits)")
            .optional()
            .describe("sha256 of the archive, hex. Needed with a URL. Default: a file may be any."),
        version: directory.shape.version,
    })
    .refine((one) => !/^https?:/.test(one.archive) || one.sha256 !== undefined, {
        error: "is missing: what a URL brings is compared with it",
        path: ["sha256"],
    })
    .describe("A tree in an archive, laid into site-packages as it is.");

/** A destination of ssh, which must not be an option of it. */
export const sshDestination = z
    .string()
    .regex(/^[A-Za-z0-9_][^\s'"]*$/, { error: "expected `user@address`, or an alias of the host's ssh config" });

const donor = z
    .strictObject({
        venv: hostPath.describe("A venv that is there already; absolute path. It is read, and never written to."),
        connection: connection
            .optional()
            .describe("How the host is reached that the venv lies on. Default: the host that takes."),
        direct: sshDestination
            .optional()
            .describe(
                "How the host that takes reaches the donor by its own ssh: `user@address`, or an alias of the ssh config of the user that the agent runs as there. The bytes then go from host to host, once for each that takes. Default: they go through this machine.",
            ),
        pin: z
            .boolean()
            .optional()
            .describe(
                "Whether what was taken first stays, whatever the donor has later. Default: false, `up` takes what the donor has then.",
            ),
    })
    .describe("Distributions of a venv, on the same host or on another one.");

/** Distributions to lay over a base, in one group with one source. */
export const overlay = z
    .strictObject({
        packages: z
            .array(z.string().min(1))
            .min(1)
            .optional()
            .describe(
                "Distributions that the source brings; of a venv also patterns such as `nvidia-*`. Default for a wheel and an index: the one it names; needed for a directory, an archive and a venv.",
            ),
        from: z
            .union([wheel, directory, archive, fromIndex, donor])
            .describe("Where the bytes come from: one of wheel, directory, archive, index, venv."),
    })
    .refine(
        (one) =>
            one.packages !== undefined || !("directory" in one.from || "archive" in one.from || "venv" in one.from),
        {
            error: "expected the names of the distributions that the source brings",
            path: ["packages"],
        },
    )
    .refine((one) => "venv" in one.from || !one.packages?.some((name) => /[*?]/.test(name)), {
        error: "expected names; patterns are for a `venv`",
        path: ["packages"],
    })
    .describe("One group of distributions with one source.");

/** The Python that overlays from an index are taken for. */
const takenFor = z
    .union([
        z.strictObject({ adopt: hostPath.describe("The venv that is adopted; its Python is meant.") }),
        z.strictObject({
            python: z.string().min(1).describe("A version that uv finds or fetches, or an absolute path on the host."),
        }),
    ])
    .describe("What the venv starts from.");

export const packageOverlayInputs = z
    .strictObject({
        ...placed,
        venv: name.describe("The venv (by its name on the host) that these overlays are for."),
        base: takenFor
            .optional()
            .describe(
                "What the venv starts from: overlays from an index are taken for its Python, and need it. Default: none.",
            ),
        overlays: z.array(overlay).describe("In order; a later one wins over an earlier one."),
    })
    .refine(({ base, overlays }) => base !== undefined || !overlays.some(({ from }) => "index" in from), {
        error: "is missing: an overlay from an index is taken for the Python of the venv's base",
        path: ["base"],
    })
    .describe("Distributions that are laid over the base of a venv, staged on the host.");

export type Overlay = z.infer<typeof overlay>;
export type PackageOverlayInputs = z.infer<typeof packageOverlayInputs>;

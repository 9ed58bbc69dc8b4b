import { z } from "zod";
import { connection } from "../../connection";

/** A name that becomes a directory on the host. */
export const name = z
    .string()
    .regex(
        /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
        "expected letters, digits, `.`, `_`, `-` (at most 64), beginning with a letter or digit",
    );

/** An absolute path on the host, in its shortest form: one spelling of a place, so that no replacement finds itself. */
export const hostPath = z
    .string()
    .regex(
        /^(\/(?!\.{1,2}(\/|$))[^\0\n/]+)+$/,
        "expected an absolute path on the host, without `.`, `..`, `//` or a slash at its end",
    );

/** 64 hex digits, or nothing. */
export const digest = z.string().regex(/^([0-9a-f]{64})?$/, "expected a sha256 (64 hex digits) or an empty string");

/** Inputs that every resource has. */
export const placed = {
    connection,
    root: hostPath.describe(
        "Directory on the host below which everything of ours lies: copies of venvs and their releases, staged contents, the services' files and logs, and with uv its Pythons and cache; absolute path. " +
            "It is made when it is not there and goes with the last thing in it; the user of the connection (root with sudo) must own it, or be allowed to make it, and the users of services to enter it.",
    ),
    takeOver: z
        .boolean()
        .optional()
        .describe(
            "Whether what another stack has made there under the same name is taken over; it loses it. Default: false, it is refused.",
        ),
};

/** Where distributions come from besides PyPI. */
export const index = {
    indexUrl: z.url().optional().describe("Package index to use instead of PyPI; URL. Default: uv's own."),
    extraIndexUrl: z.array(z.url()).optional().describe("Further package indexes; URLs, asked first. Default: none."),
    findLinks: z
        .array(z.string().min(1))
        .optional()
        .describe("Directories on the host, or URLs of pages, with wheels. Default: none."),
};

import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import type { z } from "zod";
import type { connection } from "../../provider/connection";
import { sshArgv } from "../../provider/host/argv";
import { askpass } from "../../provider/host/ssh";
import { line, quoted } from "./shell";

/** A connection whose fields are known. */
export type Reached = z.input<typeof connection>;

/** Line after which the script begins; what stands before it (a password that sudo did not ask for) is dropped. */
const start = "@sglang-script";

/**
 * The command line on the control machine that runs, on the host, a script that comes on stdin. It is the system's own
 * ssh with the same settings as the provider's connection, because `remote.Command` of Pulumi's `command` package takes
 * any host key unless it is told one, and knows neither aliases nor chains of jump hosts of the user's ssh config.
 */
export function onHost(to: Reached): string {
    if (to.type === "local") {
        return reader(to);
    }
    const login = line([
        "ssh",
        ...sshArgv({ type: "ssh", become: "none", connectTimeout: 15, ...to }, reader(to), undefined),
    ]);
    return to.password === undefined ? login : withPassword(login);
}

/** What comes on stdin: sudo's password if there is one, then the script with its variables. */
export function stdin(to: Reached, script: string, env: Record<string, string>): string {
    const exports = Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}\n`);
    return `${to.becomePassword === undefined ? "" : `${to.becomePassword}\n`}${start}\n${exports.join("")}${script}\n`;
}

/** Variables of the ssh process: the login password goes to askpass this way, never in argv. */
export function environment(password: pulumi.Input<string> | undefined): Record<string, pulumi.Input<string>> {
    return password === undefined ? {} : { PULUMI_SGLANG_SSH_PASSWORD: pulumi.secret(password) };
}

/** One line for any login shell: skips to the script, then reads it. */
function reader(to: Reached): string {
    const words = ["sh", "-c", `while IFS= read -r l; do [ "$l" = ${start} ] && exec sh -s; done; exit 97`];
    const sudo =
        to.become === "sudo"
            ? ["sudo", ...(to.becomePassword === undefined ? ["-n"] : ["-S", "-p", ""]), "-H", "--"]
            : [];
    return line([...sudo, ...words]);
}

/**
 * The provider's own askpass program, in a directory of its own until ssh has ended. Its text stands in the command, as its
 * path would differ from one clone to the next and make a change of that.
 */
function withPassword(login: string): string {
    const ask = [
        'dir=$(mktemp -d) && trap \'rm -rf "$dir"\' EXIT && cat >"$dir/ask" <<\'@askpass\' && chmod 700 "$dir/ask" || exit 96',
        readFileSync(askpass(__dirname), "utf8").trimEnd(),
        "@askpass",
    ];
    return [...ask, `SSH_ASKPASS="$dir/ask" SSH_ASKPASS_REQUIRE=force ${login}`].join("\n");
}

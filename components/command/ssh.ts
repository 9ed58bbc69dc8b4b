import * as pulumi from "@pulumi/pulumi";
import type { z } from "zod";
import type { connection } from "../../provider/connection";
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
    const login = line(["ssh", ...options(to), "--", to.host ?? to.name, reader(to)]);
    return to.password === undefined ? login : `${askpass} ${login}`;
}

/** What comes on stdin: sudo's password if there is one, then the script with its variables. */
export function stdin(to: Reached, script: string, env: Record<string, string>): string {
    const exports = Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}\n`);
    return `${to.becomePassword === undefined ? "" : `${to.becomePassword}\n`}${start}\n${exports.join("")}${script}\n`;
}

/** Variables of the ssh process: the login password goes to askpass this way, never in argv. */
export function environment(password: pulumi.Input<string> | undefined): Record<string, pulumi.Input<string>> {
    return password === undefined ? {} : { SGLANG_FLEET_PASSWORD: pulumi.secret(password) };
}

function options(to: Reached): string[] {
    const set = (name: string, value: string | number | undefined) =>
        value === undefined ? [] : ["-o", `${name}=${value}`];
    return [
        ...(to.sshConfig === undefined ? [] : ["-F", to.sshConfig]),
        ...set("BatchMode", to.password === undefined ? "yes" : undefined),
        ...set("NumberOfPasswordPrompts", to.password === undefined ? undefined : 1),
        ...set("StrictHostKeyChecking", to.options?.StrictHostKeyChecking ?? "yes"),
        ...set("ConnectTimeout", to.connectTimeout ?? 15),
        ...set("UserKnownHostsFile", to.knownHosts),
        ...(to.identityFile === undefined ? [] : ["-i", to.identityFile, "-o", "IdentitiesOnly=yes"]),
        ...(to.user === undefined ? [] : ["-l", to.user]),
        ...(to.port === undefined ? [] : ["-p", String(to.port)]),
        ...(to.jump === undefined || to.jump.length === 0 ? [] : ["-J", to.jump.join(",")]),
        ...Object.entries(to.options ?? {}).flatMap(([name, value]) =>
            name === "StrictHostKeyChecking" ? [] : set(name, value),
        ),
    ];
}

/** One line for any login shell: skips to the script, then reads it. */
function reader(to: Reached): string {
    const words = ["sh", "-c", `while IFS= read -r l; do [ "$l" = ${start} ] && exec sh -s; done; exit 97`];
    const sudo =
        to.become === "sudo" ? ["sudo", ...(to.becomePassword === undefined ? ["-n"] : ["-S", "-p", ""]), "--"] : [];
    return line([...sudo, ...words]);
}

/** A program of one line that prints the password; it lies in a directory of its own until ssh has ended. */
const askpass =
    'dir=$(mktemp -d) && trap \'rm -rf "$dir"\' EXIT && printf \'#!/bin/sh\\nprintf "%%s\\\\n" "$SGLANG_FLEET_PASSWORD"\\n\' >"$dir/ask" && chmod 700 "$dir/ask" && SSH_ASKPASS="$dir/ask" SSH_ASKPASS_REQUIRE=force';

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Connection } from "../connection";
import { sshArgv } from "./argv";
import { controlPath } from "./control";
import type { Transport } from "./transport";

/** The system's OpenSSH client: it reaches a host as the user's own terminal does, but never asks. */
export function sshTransport(connection: Connection, shared: boolean): Transport {
    return {
        start: (command) =>
            spawn("ssh", sshArgv(connection, command, shared ? controlPath(connection) : undefined), {
                env: sshEnvironment(connection, process.env),
                stdio: "pipe",
            }),
    };
}

/** The client's environment: messages in English, because they are read, and a password where askpass finds it. */
function sshEnvironment(connection: Connection, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
    const { LC_ALL, SSH_ASKPASS: _, ...rest } = env;
    const plain = { ...rest, ...(LC_ALL === undefined ? {} : { LANG: LC_ALL }), LC_MESSAGES: "C" };
    if (connection.password === undefined) {
        return { ...plain, SSH_ASKPASS_REQUIRE: "never" };
    }
    return {
        ...plain,
        SSH_ASKPASS: askpass(__dirname),
        SSH_ASKPASS_REQUIRE: "force",
        PULUMI_SGLANG_SSH_PASSWORD: connection.password,
    };
}

/** The askpass program lies beside this source, also when this, or `from`, runs compiled below `dist`. */
export function askpass(from: string): string {
    const path = join(from, "provider", "host", "askpass");
    return existsSync(path) || dirname(from) === from ? path : askpass(dirname(from));
}

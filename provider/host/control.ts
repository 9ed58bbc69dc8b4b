import { createHash } from "node:crypto";
import { lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Connection } from "../connection";

/** Shortest `sun_path` among the systems that OpenSSH runs on, less the 17 characters that it appends while it binds. */
const LONGEST = 104 - 17 - 1;

/** Candidates for the folder of control sockets, in order; short, as the path of a socket is limited. */
export function controlFolders(env: NodeJS.ProcessEnv, uid: number): string[] {
    const runtime = env.XDG_RUNTIME_DIR;
    return [...(runtime?.startsWith("/") ? [join(runtime, "sglang-fleet")] : []), `/tmp/sglang-fleet-${uid}`];
}

/**
 * Where the shared connection of this host is found: a name made of all that decides who is reached and how, so that a
 * connection that was checked against other known hosts is never taken for this one.
 */
export function controlName(connection: Connection): string {
    const { host, name, user, port, identityFile, jump, knownHosts, sshConfig, options } = connection;
    const identity = JSON.stringify([host ?? name, user, port, identityFile, jump, knownHosts, sshConfig, options]);
    return createHash("sha256").update(identity).digest("hex").slice(0, 16);
}

/** The path for the control socket; undefined when there is no safe folder for it, and then each command connects for itself. */
export function controlPath(
    connection: Connection,
    env = process.env,
    uid = process.getuid?.() ?? 0,
): string | undefined {
    for (const folder of controlFolders(env, uid)) {
        const path = join(folder, controlName(connection));
        if (Buffer.byteLength(path) <= LONGEST && isPrivate(folder, uid)) {
            return path;
        }
    }
    return undefined;
}

/** The first folder that nobody else can read or write; undefined when there is none. */
export function privateFolder(env = process.env, uid = process.getuid?.() ?? 0): string | undefined {
    return controlFolders(env, uid).find((folder) => isPrivate(folder, uid));
}

/** Makes the folder if need be. One that others may write, or that is not ours, could hold a socket that somebody else answers. */
function isPrivate(folder: string, uid: number): boolean {
    try {
        mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
            return false;
        }
    }
    const facts = lstatSync(folder);
    return facts.isDirectory() && facts.uid === uid && (facts.mode & 0o077) === 0;
}

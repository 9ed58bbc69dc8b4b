import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Connection } from "../connection";
import type { Become } from "./command";
import { localTransport } from "./local";
import { sshTransport } from "./ssh";

/** A way to start one process on a host with its three streams. What runs there is not its matter. */
export interface Transport {
    /** Starts the command as the host's login shell reads it. The child ends when its stdin is closed. */
    start(command: string): ChildProcessWithoutNullStreams;
}

/** The transport that a connection asks for. `shared`: whether it may use, and leave, a connection that others use too. */
export function transportFor(connection: Connection, shared: boolean): Transport {
    return connection.type === "local" ? localTransport() : sshTransport(connection, shared);
}

/** How the agent is to become root, if at all. */
export function becomeFor(connection: Connection): Become {
    if (connection.become === "none") {
        return "none";
    }
    return connection.becomePassword === undefined ? "sudo" : "sudo-with-password";
}

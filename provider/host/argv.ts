import type { Connection } from "../connection";

/** Seconds between two questions whether the other end lives, and how many may stay unanswered: 20 s until a dead link is an error. */
const ALIVE = { interval: 5, count: 4 };

/** Seconds that a connection stays for the next command. */
const PERSIST = 30;

/** Arguments of `ssh` for one command on one host. Pure; nothing secret is among them. */
export function sshArgv(connection: Connection, command: string, control: string | undefined): string[] {
    return [
        "-T",
        "-a",
        "-x",
        ...flag("-F", connection.sshConfig),
        ...flag("-l", connection.user),
        ...flag("-p", connection.port),
        ...flag("-i", connection.identityFile),
        ...flag("-J", connection.jump?.join(",")),
        ...sshOptions(connection, control).flatMap(([name, value]) => ["-o", `${name}=${value}`]),
        "--",
        connection.host ?? connection.name,
        command,
    ];
}

/** Options in the order that counts: ssh takes the first value of each, so the user's own win over our defaults below them. */
function sshOptions(connection: Connection, control: string | undefined): [string, string | number][] {
    return [
        // With a password ssh must be able to ask for it; what it asks else is answered by nobody (see askpass).
        ["BatchMode", connection.password === undefined ? "yes" : "no"],
        ["NumberOfPasswordPrompts", 1],
        // The user's config may ask for these; each would break or leave the one stream that we need.
        ["RemoteCommand", "none"],
        ["RequestTTY", "no"],
        ["EscapeChar", "none"],
        ["ClearAllForwardings", "yes"],
        ["PermitLocalCommand", "no"],
        ...Object.entries(connection.options ?? {}),
        ["StrictHostKeyChecking", "yes"],
        ...(connection.knownHosts === undefined
            ? []
            : [["UserKnownHostsFile", quoted(connection.knownHosts)] as [string, string]]),
        ...(connection.knownHosts === undefined ? [] : [["GlobalKnownHostsFile", "none"] as [string, string]]),
        // Else an agent with many keys uses up the attempts that the server allows before the declared one is tried.
        ...(connection.identityFile === undefined ? [] : [["IdentitiesOnly", "yes"] as [string, string]]),
        ["ConnectTimeout", connection.connectTimeout],
        ["ServerAliveInterval", ALIVE.interval],
        ["ServerAliveCountMax", ALIVE.count],
        ...(control === undefined
            ? [["ControlPath", "none"] as [string, string]]
            : ([
                  ["ControlMaster", "auto"],
                  ["ControlPersist", PERSIST],
                  ["ControlPath", quoted(control)],
              ] as [string, string | number][])),
    ];
}

function flag(name: string, value: string | number | undefined): string[] {
    return value === undefined ? [] : [name, String(value)];
}

/** A path as ssh_config(5) reads it: blanks need quotes, and % would begin a token. */
function quoted(path: string): string {
    return `"${path.replaceAll("%", "%%")}"`;
}

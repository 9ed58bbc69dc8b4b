import type { Connection } from "../connection";
import { NO_PYTHON, SUDO_PROMPT } from "./command";
import { fingerprint } from "./fingerprint";
import type { FaultReport } from "./host";

/** How a child ended that should have become, or had been, an agent. */
export interface Ending {
    /** All that came on stderr, or its last part. */
    stderr: string;
    /** Exit status; null when a signal ended it, or when it was ended from here. */
    exit: number | null;
    /** Set when the program could not be started at all. */
    spawnError?: string;
    /** Set when the agent did not begin within so many seconds. */
    silentFor?: number;
}

/** Reads line `number` (from 1) of a file; undefined when that cannot be done. */
export type ReadLine = (path: string, number: number) => string | undefined;

/** What went wrong before the agent began, from what ssh, sudo and the shell say of it. Pure but for `readLine`. */
export function explainStart(connection: Connection, ending: Ending, readLine: ReadLine): FaultReport {
    const report =
        noProgram(connection, ending) ??
        hostKey(connection, ending, readLine) ??
        login(connection, ending) ??
        sudo(connection, ending) ??
        noPython(connection, ending) ??
        unreachable(connection, ending);
    const detail = lastLines(ending.stderr);
    return detail === "" ? report : { ...report, detail };
}

/** What it means that a working agent is gone. */
export function explainLoss(op: string, ending: Ending): FaultReport {
    const dead = ending.stderr.match(/Timeout, server .* not responding/)?.[0];
    const detail = lastLines(ending.stderr);
    return {
        code: "lost",
        message: `the connection was lost during ${op}${dead === undefined ? "" : `: ${dead}`}`,
        found:
            ending.exit === null
                ? "the connection's process was ended"
                : `the connection's process exited ${ending.exit}`,
        remedy: "run the command again: what was begun on the host is either finished there, or left undone",
        ...(detail === "" ? {} : { detail }),
    };
}

/** The last lines that a person wants to read: no empty ones, none of our own markers. */
function lastLines(stderr: string, count = 20): string {
    const lines = stderr.split(/\r?\n/).map((line) => line.replaceAll(SUDO_PROMPT, "").trimEnd());
    return lines
        .filter((line) => line !== "" && !/^@+$/.test(line))
        .slice(-count)
        .join("\n");
}

function noProgram({ type }: Connection, { spawnError }: Ending): FaultReport | undefined {
    if (spawnError === undefined) {
        return undefined;
    }
    const program = type === "local" ? "/bin/sh" : "ssh";
    const remedy = type === "local" ? undefined : "install the OpenSSH client on the control machine";
    return { code: "unreachable", message: `cannot start ${program}: ${spawnError}`, ...(remedy && { remedy }) };
}

function hostKey(connection: Connection, { stderr }: Ending, readLine: ReadLine): FaultReport | undefined {
    const address = connection.host ?? connection.name;
    if (/REMOTE HOST IDENTIFICATION HAS CHANGED/.test(stderr)) {
        const [, kind, file, line] = stderr.match(/Offending (\S+) key in (.+):(\d+)/) ?? [];
        const known = file === undefined ? undefined : fingerprint(readLine(file, Number(line)) ?? "");
        const sent = stderr.match(/key sent by the remote host is\s+(SHA256:[^\s.]+)/)?.[1];
        const removal = stderr.match(/ssh-keygen -f \S+ -R \S+/)?.[0] ?? `ssh-keygen -R ${address}`;
        return compact({
            code: "host-key",
            message: `${address} shows another host key than the known one: it is another machine, was set up anew, or somebody stands between`,
            where: file === undefined ? undefined : `${file}:${line}`,
            found: sent,
            expected: known === undefined ? undefined : `${known} (${kind})`,
            remedy: `if that is meant, compare the new fingerprint with the machine's own, then: ${removal}; and add the new key`,
        });
    }
    if (/REVOKED HOST KEY/.test(stderr)) {
        return {
            code: "host-key",
            message: `${address} shows a host key that is marked as revoked`,
            remedy: "do not connect; ask who runs the host",
        };
    }
    const unknown = stderr.match(/No (\S+) host key is known for (\S+)/);
    if (unknown !== null || /Host key verification failed/.test(stderr)) {
        const port = connection.port === undefined ? "" : ` -p ${connection.port}`;
        return compact({
            code: "host-key",
            message:
                unknown === null
                    ? `the host key of ${address} could not be verified`
                    : `no ${unknown[1]} host key is known for ${unknown[2]}`,
            where: connection.knownHosts,
            remedy: `compare the fingerprint (ssh-keyscan${port} ${address} | ssh-keygen -lf -) with the machine's own, then add the key to ${connection.knownHosts ?? "known_hosts"}`,
        });
    }
    return undefined;
}

function login(connection: Connection, { stderr, exit }: Ending): FaultReport | undefined {
    const denied = stderr.match(/^(?:(\S+): )?Permission denied \((.*)\)/m);
    const many = /Too many authentication failures/.test(stderr);
    if (exit !== 255 || (denied === null && !many)) {
        return undefined;
    }
    const unusable = stderr.match(/^(?:Load key .*|Permissions \S+ for .* are too open.*|no such identity: .*)$/m)?.[0];
    return compact({
        code: "auth",
        message: many
            ? "too many keys were tried before the right one"
            : `${denied?.[1] ?? "the host"} refused the login`,
        found: unusable ?? (denied === null ? undefined : `it accepts ${denied[2]?.replaceAll(",", ", ")}`),
        expected: `tried: ${credentials(connection)}`,
        remedy: many
            ? "set `identityFile`: then only that key is tried"
            : "set `user`, `identityFile` or `password`, or load the key into the ssh agent; `ssh` in a terminal must log in without a question",
    });
}

function credentials({ identityFile, password }: Connection): string {
    const keys =
        identityFile === undefined ? "the keys of the ssh agent and of ssh's config" : `the key ${identityFile}`;
    return password === undefined ? keys : `${keys}, and the password`;
}

function sudo(connection: Connection, { stderr }: Ending): FaultReport | undefined {
    if (connection.become === "none") {
        return undefined;
    }
    const message = SUDO_FAILURES.find(([pattern]) => pattern.test(stderr))?.[1];
    return message === undefined
        ? undefined
        : {
              code: "sudo",
              message,
              remedy: "set `becomePassword`, or allow it on the host: a sudoers line `USER ALL=(ALL) NOPASSWD: ALL`",
          };
}

const SUDO_FAILURES: [RegExp, string][] = [
    [/incorrect password attempt|Sorry, try again/, "sudo refused the password"],
    [
        /a password is required|password is required|no password was provided/,
        "sudo wants a password, and none is declared",
    ],
    [
        /is not in the sudoers file|may not run sudo|is not allowed to (?:execute|run)/,
        "the login user may not use sudo",
    ],
    [/must have a tty/, "sudo on this host works in a terminal only (requiretty)"],
    [
        /sudo: (?:command )?not found|sudo: Command not found|Unknown command:? ["']?sudo/i,
        "there is no sudo on the host",
    ],
    [/^sudo: /m, "sudo failed"],
];

function noPython({ python }: Connection, { stderr }: Ending): FaultReport | undefined {
    const tried = stderr.match(new RegExp(`${NO_PYTHON} (.*)`))?.[1];
    if (tried === undefined) {
        return undefined;
    }
    return {
        code: "no-python",
        message:
            python === undefined ? "the host has no Python that the agent can use" : `${python} cannot run the agent`,
        found: `tried ${tried}`,
        expected: "Python 3.8 or newer",
        remedy: "set `python` to the path of one; that of a venv will do",
    };
}

function unreachable(connection: Connection, { stderr, exit, silentFor }: Ending): FaultReport {
    const said = UNREACHABLE.map((pattern) => stderr.match(pattern)?.[0]).find((line) => line !== undefined);
    if (silentFor !== undefined) {
        return {
            code: "unreachable",
            message: said ?? `nothing answered within ${silentFor} s`,
            remedy: "see whether a login by hand hangs as well: a start-up file of the shell may be waiting for something",
        };
    }
    if (said !== undefined || (exit === 255 && connection.type === "ssh")) {
        const last = said ?? lastLines(stderr, 1);
        const message = last === "" ? "ssh could not connect, and does not say why" : last;
        return {
            code: "unreachable",
            message,
            remedy: "see that the host is up, and that `ssh` in a terminal reaches it",
        };
    }
    return {
        code: "unreachable",
        message: `the login shell ended${exit === null ? "" : ` with status ${exit}`} before the agent began`,
        remedy: "see what the login shell and its start-up files do in a session without a terminal",
    };
}

const UNREACHABLE = [
    /Could not resolve hostname .*/,
    /connect to (?:host|address) .*/,
    /Connection timed out during banner exchange/,
    /Timeout, server .* not responding.*/,
    /(?:kex_exchange_identification|ssh_exchange_identification|banner exchange): .*/,
    /Bad configuration option: .*|.*(?:bad|unsupported) (?:configuration )?option.*|.*Can't open user config file.*/i,
    /Connection (?:closed|reset) by .*/,
];

/** Leaves out what is not known. */
function compact(report: { [K in keyof FaultReport]: FaultReport[K] | undefined }): FaultReport {
    return Object.fromEntries(
        Object.entries(report).filter(([, value]) => value !== undefined),
    ) as unknown as FaultReport;
}

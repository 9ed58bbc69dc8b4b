import assert from "node:assert/strict";
import { test } from "node:test";
import { connection } from "../../provider/connection";
import { type Ending, explainLoss, explainStart } from "../../provider/host/errors";
import type { FaultReport } from "../../provider/host/host";

const KNOWN = "[127.0.0.1]:2222 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHZ5LEqXIskZSOKQjgMPVTvr1f1/fQ2YFQRL/vMTEFiH";
const changed = `@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!
The fingerprint for the ED25519 key sent by the remote host is
SHA256:zTgYRmu8yBY5AN+v5jnUHaGKmYQk1gcZRwvhFm0A6Ec.
Please contact your system administrator.
Add correct host key in /k/known_hosts to get rid of this message.
Offending ED25519 key in /k/known_hosts:3
  remove with:
  ssh-keygen -f "/k/known_hosts" -R "[127.0.0.1]:2222"
Host key for [127.0.0.1]:2222 has changed and you have requested strict checking.
Host key verification failed.
`;

interface Case {
    name: string;
    connection?: Record<string, unknown>;
    ending: Partial<Ending>;
    report: Partial<FaultReport>;
}

const cases: Case[] = [
    {
        name: "a changed host key shows both fingerprints, the line, and how to accept it",
        ending: { exit: 255, stderr: changed },
        report: {
            code: "host-key",
            where: "/k/known_hosts:3",
            found: "SHA256:zTgYRmu8yBY5AN+v5jnUHaGKmYQk1gcZRwvhFm0A6Ec",
            expected: "SHA256:IsY73NigrLqbJ2gdIlEBjISwh2YXcFeq957YMWYrBM8 (ED25519)",
            remedy:
                "if that is meant, compare the new fingerprint with the machine's own, then: " +
                'ssh-keygen -f "/k/known_hosts" -R "[127.0.0.1]:2222"; and add the new key',
        },
    },
    {
        name: "an unknown host key is not accepted",
        connection: { port: 2222, knownHosts: "/k/known_hosts" },
        ending: {
            exit: 255,
            stderr: "No ED25519 host key is known for [h1]:2222 and you have requested strict checking.\r\nHost key verification failed.\r\n",
        },
        report: {
            code: "host-key",
            message: "no ED25519 host key is known for [h1]:2222",
            where: "/k/known_hosts",
            remedy:
                "compare the fingerprint (ssh-keyscan -p 2222 h1 | ssh-keygen -lf -) with the machine's own, " +
                "then add the key to /k/known_hosts",
        },
    },
    {
        name: "a refused key says what the host accepts and what was tried",
        connection: { identityFile: "/k/id" },
        ending: { exit: 255, stderr: "root@h1: Permission denied (publickey,password).\r\n" },
        report: {
            code: "auth",
            message: "root@h1 refused the login",
            found: "it accepts publickey, password",
            expected: "tried: the key /k/id",
        },
    },
    {
        name: "a key that ssh could not use is named",
        connection: { identityFile: "/k/id", password: "x" },
        ending: {
            exit: 255,
            stderr: 'Load key "/k/id": bad permissions\r\nroot@h1: Permission denied (publickey).\r\n',
        },
        report: {
            code: "auth",
            found: 'Load key "/k/id": bad permissions',
            expected: "tried: the key /k/id, and the password",
        },
    },
    {
        name: "an agent with too many keys is told apart",
        ending: {
            exit: 255,
            stderr: "Received disconnect from 10.0.0.1 port 22:2: Too many authentication failures\r\n",
        },
        report: {
            code: "auth",
            message: "too many keys were tried before the right one",
            remedy: "set `identityFile`: then only that key is tried",
        },
    },
    {
        name: "a closed port",
        ending: { exit: 255, stderr: "ssh: connect to host h1 port 22: Connection refused\r\n" },
        report: { code: "unreachable", message: "connect to host h1 port 22: Connection refused" },
    },
    {
        name: "a name that nobody knows",
        ending: { exit: 255, stderr: "ssh: Could not resolve hostname h1: Name or service not known\r\n" },
        report: { code: "unreachable", message: "Could not resolve hostname h1: Name or service not known" },
    },
    {
        name: "a server that accepts and stays silent",
        ending: {
            exit: 255,
            stderr: "Connection timed out during banner exchange\r\nConnection to 127.0.0.1 port 9 timed out\r\n",
        },
        report: { code: "unreachable", message: "Connection timed out during banner exchange" },
    },
    {
        name: "a jump host that is down",
        ending: {
            exit: 255,
            stderr: "ssh: connect to host gate port 22: Connection refused\r\nConnection closed by UNKNOWN port 65535\r\n",
        },
        report: { code: "unreachable", message: "connect to host gate port 22: Connection refused" },
    },
    {
        name: "an option that ssh does not know",
        ending: { exit: 255, stderr: "command-line: line 0: Bad configuration option: nonsense\r\n" },
        report: { code: "unreachable", message: "command-line: line 0: Bad configuration option: nonsense" },
    },
    {
        name: "no ssh on the control machine",
        ending: { exit: null, spawnError: "spawn ssh ENOENT" },
        report: {
            code: "unreachable",
            message: "cannot start ssh: spawn ssh ENOENT",
            remedy: "install the OpenSSH client on the control machine",
        },
    },
    {
        name: "a login shell that ends at once",
        ending: { exit: 1, stderr: "This account is currently not available.\r\n" },
        report: {
            code: "unreachable",
            message: "the login shell ended with status 1 before the agent began",
            detail: "This account is currently not available.",
        },
    },
    {
        name: "a start-up file that waits for something",
        ending: { exit: null, silentFor: 75 },
        report: { code: "unreachable", message: "nothing answered within 75 s" },
    },
    ...(
        [
            [
                "a password is needed and none declared",
                "sudo: a password is required\n",
                "sudo wants a password, and none is declared",
            ],
            [
                "a wrong password",
                "@sglang-sudo-prompt:Sorry, try again.\n@sglang-sudo-prompt:\nsudo: 1 incorrect password attempt\n",
                "sudo refused the password",
            ],
            ["a user who may not", "user is not in the sudoers file.\n", "the login user may not use sudo"],
            [
                "requiretty",
                "sudo: sorry, you must have a tty to run sudo\n",
                "sudo on this host works in a terminal only (requiretty)",
            ],
            ["no sudo, bash", "bash: line 1: exec: sudo: not found\n", "there is no sudo on the host"],
            ["no sudo, tcsh", "sudo: Command not found.\n", "there is no sudo on the host"],
            ["no sudo, fish", "fish: Unknown command: sudo\n", "there is no sudo on the host"],
        ] as const
    ).map(([name, stderr, message]) => ({
        name: `sudo: ${name}`,
        connection: { become: "sudo" },
        ending: { exit: 1, stderr },
        report: { code: "sudo", message },
    })),
    {
        name: "no Python that is new enough",
        ending: { exit: 92, stderr: "motd\n@sglang-no-python python3 python3.14 /usr/bin/python3\n" },
        report: {
            code: "no-python",
            message: "the host has no Python that the agent can use",
            found: "tried python3 python3.14 /usr/bin/python3",
            expected: "Python 3.8 or newer",
        },
    },
];

for (const { name, connection: more, ending, report } of cases) {
    test(name, () => {
        const reached = connection.parse({ name: "h1", ...more });
        const found = explainStart(reached, { stderr: "", exit: null, ...ending }, (path, line) =>
            path === "/k/known_hosts" && line === 3 ? KNOWN : undefined,
        );
        assert.deepEqual(
            Object.fromEntries(Object.keys(report).map((key) => [key, found[key as keyof FaultReport]])),
            report,
        );
    });
}

test("a lost connection says during what, and what ssh said last", () => {
    const stderr = "Welcome\r\nTimeout, server 10.0.0.1 not responding.\r\n";
    assert.deepEqual(explainLoss("venv.make", { stderr, exit: 255 }), {
        code: "lost",
        message: "the connection was lost during venv.make: Timeout, server 10.0.0.1 not responding",
        found: "the connection's process exited 255",
        remedy: "run the command again: what was begun on the host is either finished there, or left undone",
        detail: "Welcome\nTimeout, server 10.0.0.1 not responding.",
    });
});

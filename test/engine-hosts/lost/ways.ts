import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hostPassword, type TestHost } from "../../hosts/testHost";

/** A host of the stack, how it is lost, and what a person must then be told. */
export interface Way {
    name: string;
    /** The machine behind it. Default: the one that most names share. */
    on?: "off" | "dark" | "rekeyed";
    /** What its connection has besides root's, as config says it. */
    connection?: Record<string, unknown>;
    /** Who logs in, and so owns the root. */
    user?: string;
    /** Before anything is made on it. */
    prepare?: () => Promise<unknown> | unknown;
    lose: () => Promise<unknown> | unknown;
    says: RegExp;
}

/** What the ways are made with. */
export interface Given {
    /** For files of the control machine. */
    folder: string;
    shared: TestHost;
    off: TestHost;
    dark: TestHost;
    rekeyed: TestHost;
    /** Where everything of ours lies on a host, by its name. */
    root: (name: string) => string;
}

/** Runs a line as root on a host; throws when it fails. */
export async function sh(host: TestHost, line: string): Promise<void> {
    const { exit, stderr } = await host.exec("sh", "-euc", line);
    if (exit !== 0) {
        throw new Error(`${host.name}: ${line}: ${stderr}`);
    }
}

const shortly = { connectTimeout: 5 };

/** Nobody answers, or not as a machine with sshd does. */
export function unreachable({ folder, shared, off, dark }: Given): Way[] {
    const sshd = (port: number) => `mkdir -p /run/sshd; /usr/sbin/sshd -p ${port} -o PidFile=/run/sshd-${port}.pid`;
    const byPort = (port: number) => ({ ...shortly, port, options: { HostKeyAlias: shared.address } });
    const names = join(folder, "ssh_config");
    const called = (address: string) => writeFileSync(names, `Host called\n  HostName ${address}\n`);
    return [
        { name: "off", on: "off", connection: shortly, lose: () => off.powerOff(), says: /No route to host|timed out/ },
        {
            name: "dark",
            on: "dark",
            connection: shortly,
            lose: () => dark.cutLink(),
            says: /No route to host|timed out/,
        },
        {
            name: "refused",
            connection: byPort(2201),
            prepare: () => sh(shared, sshd(2201)),
            lose: () => sh(shared, "kill $(cat /run/sshd-2201.pid)"),
            says: /Connection refused/,
        },
        {
            name: "silent",
            connection: byPort(2202),
            prepare: () => sh(shared, sshd(2202)),
            lose: () => sh(shared, "kill -STOP $(cat /run/sshd-2202.pid)"),
            says: /Connection timed out during banner exchange/,
        },
        {
            name: "unresolved",
            connection: { host: "called", sshConfig: names, options: { HostKeyAlias: shared.address } },
            prepare: () => called(shared.address),
            lose: () => called("called.invalid"),
            says: /Could not resolve hostname called/,
        },
    ];
}

/** A machine answers, and one side does not trust the other. */
export function notTrusted({ folder, shared, rekeyed }: Given): Way[] {
    const file = (name: string) => join(folder, name);
    const key = file("key");
    return [
        {
            name: "rekeyed",
            on: "rekeyed",
            connection: { knownHosts: file("known-before") },
            prepare: () => copyFileSync(rekeyed.knownHostsPath, file("known-before")),
            lose: () => rekeyed.rekey(),
            says: /shows another host key than the known one[\s\S]*found: SHA256:[\s\S]*expected: SHA256:[\s\S]*ssh-keygen -f/,
        },
        {
            name: "unknown",
            connection: { knownHosts: file("known") },
            prepare: () => copyFileSync(shared.knownHostsPath, file("known")),
            lose: () => writeFileSync(file("known"), ""),
            says: /no \S+ host key is known for [\s\S]*compare the fingerprint/,
        },
        {
            name: "denied",
            connection: { identityFile: key },
            prepare: () => {
                copyFileSync(shared.keyPath, key);
                chmodSync(key, 0o600);
            },
            lose: () => {
                rmSync(key);
                execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
            },
            says: /refused the login[\s\S]*set `user`, `identityFile` or `password`/,
        },
        {
            name: "password",
            user: "user-plain",
            connection: {
                identityFile: undefined,
                options: { PubkeyAuthentication: "no" },
                password: { secret: "login" },
            },
            lose: () => sh(shared, "echo user-plain:another | chpasswd"),
            says: /refused the login/,
        },
        {
            name: "sudoless",
            user: "user-sudo",
            connection: { become: "sudo" },
            lose: () => sh(shared, "sed -i s/,user-sudo// /etc/sudoers.d/test-hosts"),
            says: /sudo wants a password, and none is declared|may not use sudo/,
        },
        {
            name: "sudo-password",
            user: "user-password",
            connection: { become: "sudo", becomePassword: { secret: "login" } },
            lose: () => sh(shared, "echo user-password:another | chpasswd"),
            says: /sudo refused the password/,
        },
    ];
}

/** The login works, and no agent answers to its end. */
export function notAnswering({ shared, root }: Given): Way[] {
    const program = (name: string) => `/usr/local/bin/python-${name}`;
    const write = (name: string, ...lines: string[]) =>
        sh(shared, `cat >${program(name)} <<'PROGRAM'\n${lines.join("\n")}\nPROGRAM\nchmod 755 ${program(name)}`);
    const plain = (name: string) => write(name, "#!/bin/sh", 'exec python3 "$@"');
    /** A Python whose agent is killed once it has said so many bytes: it says 34 that it is ready. */
    const cut = (name: string, bytes: number) =>
        write(
            name,
            "#!/usr/bin/python3",
            "import os, subprocess, sys",
            'if "agent.bundle" not in " ".join(sys.argv): os.execvp("python3", ["python3"] + sys.argv[1:])',
            'agent = subprocess.Popen(["python3"] + sys.argv[1:], stdout=subprocess.PIPE)',
            `left = ${bytes}`,
            "while left:",
            "    said = os.read(agent.stdout.fileno(), left)",
            "    left -= len(said)",
            "    os.write(1, said)",
            "agent.kill()",
        );
    const lost = /the connection was lost during look[\s\S]*run the command again/;
    return [
        {
            name: "pythonless",
            connection: { python: program("gone") },
            prepare: () => plain("gone"),
            lose: () => sh(shared, `rm ${program("gone")}`),
            says: /python-gone cannot run the agent[\s\S]*expected: Python 3\.8 or newer/,
        },
        {
            name: "killed",
            connection: { python: program("killed") },
            prepare: () => plain("killed"),
            lose: () => cut("killed", 34),
            says: lost,
        },
        {
            name: "half",
            connection: { python: program("half") },
            prepare: () => plain("half"),
            lose: () => cut("half", 200),
            says: lost,
        },
        {
            name: "another",
            connection: { python: program("another") },
            prepare: () => plain("another"),
            lose: async () => {
                await sh(shared, "echo 0123456789abcdef0123456789abcdef >/srv/machine-id");
                const inside = `mount --bind /srv/machine-id /etc/machine-id; mount -t tmpfs none ${root("another")}`;
                await write("another", "#!/bin/sh", `exec unshare -m sh -euc '${inside}; exec python3 "$@"' x "$@"`);
            },
            says: /another machine answers there[\s\S]*machine id 0123456789abcdef/,
        },
    ];
}

/** An agent answers, and cannot read what is on the disk. */
export function notReadable({ shared, root }: Given): Way[] {
    return [
        {
            name: "corrupt",
            lose: () => sh(shared, `echo '{"claims": {' >${root("corrupt")}/claims.json`),
            says: /claims\.json is not valid JSON[\s\S]*restore this file/,
        },
        {
            name: "unreadable",
            lose: () =>
                sh(shared, `cd ${root("unreadable")}; rm -r venvs; echo what a broken file system shows >venvs`),
            says: /venvs: Not a directory/,
        },
        {
            // Reading the first byte of this file is an I/O error on each Linux.
            name: "bad-disk",
            lose: () => sh(shared, `ln -sf /proc/self/mem ${root("bad-disk")}/claims.json`),
            says: /claims\.json: Input\/output error/,
        },
        {
            name: "forbidden",
            user: "user-fish",
            lose: () => sh(shared, `chmod 000 ${root("forbidden")}/venvs`),
            says: /venvs: Permission denied[\s\S]*become: sudo/,
        },
    ];
}

/** The password of every user, and of this one until it is lost. */
export const login = hostPassword;

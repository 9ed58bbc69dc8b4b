import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Connection, connection } from "../../provider/connection";

const SSHD = "/usr/sbin/sshd";

/** Why no sshd can be started here; false when one can. */
export const cannotRun: string | false =
    process.getuid?.() !== 0
        ? "needs root: it starts an sshd and makes throw-away users"
        : !existsSync(SSHD)
          ? `needs ${SSHD} (Debian: openssh-server)`
          : false;

/** A private sshd on a free port of 127.0.0.1, with host key, user key and config of its own. */
export class Sshd {
    readonly folder = mkdtempSync(join(tmpdir(), "sglang-sshd-"));
    readonly key = join(this.folder, "id");
    readonly knownHosts = join(this.folder, "known_hosts");
    port = 0;
    private process: ChildProcess | undefined;
    private log = "";

    static async start(settings: Record<string, string> = {}): Promise<Sshd> {
        const sshd = new Sshd();
        for (const file of [sshd.key, join(sshd.folder, "host")]) {
            execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", file]);
        }
        sshd.port = await freePort();
        sshd.trust(join(sshd.folder, "host.pub"));
        // A non-root login must be able to read the keys file.
        execFileSync("chmod", ["755", sshd.folder]);
        execFileSync("chmod", ["644", `${sshd.key}.pub`]);
        await sshd.listen(settings);
        return sshd;
    }

    /** Makes the public key in `file` the known one of this server. */
    trust(file: string): void {
        const key = readFileSync(file, "utf8").split(" ").slice(0, 2).join(" ");
        writeFileSync(this.knownHosts, `[127.0.0.1]:${this.port} ${key}\n`);
    }

    /** A connection to it that needs nothing else of this machine. */
    connection(more: Partial<Connection> = {}): Connection {
        return connection.parse({
            name: "h1",
            host: "127.0.0.1",
            port: this.port,
            user: "root",
            identityFile: this.key,
            knownHosts: this.knownHosts,
            sshConfig: "none",
            connectTimeout: 5,
            ...more,
        });
    }

    /** Logins that were let in, each one a TCP connection. */
    get logins(): number {
        return this.log.match(/^Accepted \S+ for /gm)?.length ?? 0;
    }

    /** Processes below the server: sessions and all that runs in them. */
    sessions(): number[] {
        return below(this.process?.pid ?? 0);
    }

    async stop(): Promise<void> {
        for (const pid of [...this.sessions(), this.process?.pid ?? 0]) {
            signal(pid, "SIGKILL");
        }
        await pause(100);
        rmSync(this.folder, { recursive: true });
    }

    private async listen(settings: Record<string, string>): Promise<void> {
        mkdirSync("/run/sshd", { recursive: true });
        const config = join(this.folder, "config");
        const all: Record<string, string> = {
            ListenAddress: `127.0.0.1:${this.port}`,
            HostKey: join(this.folder, "host"),
            AuthorizedKeysFile: `${this.key}.pub`,
            PidFile: "none",
            StrictModes: "no",
            UsePAM: "no",
            PermitRootLogin: "yes",
            LogLevel: "VERBOSE",
            ...settings,
        };
        writeFileSync(
            config,
            Object.entries(all)
                .map((line) => line.join(" "))
                .join("\n"),
        );
        this.process = spawn(SSHD, ["-D", "-e", "-f", config], { stdio: ["ignore", "ignore", "pipe"] });
        const listening = new Promise<void>((resolve, reject) => {
            this.process?.on("exit", () => reject(new Error(`sshd ended: ${this.log}`)));
            this.process?.stderr?.on("data", (chunk: Buffer) => {
                this.log += chunk.toString().replaceAll("\r", "");
                if (this.log.includes("Server listening")) {
                    resolve();
                }
            });
        });
        await listening;
    }
}

/** A user of this machine for as long as a test takes. `files`: what lies in the home, by name. */
export class User {
    readonly name: string;
    readonly home: string;
    private sudoers: string | undefined;
    private static count = 0;

    constructor({
        shell = "/bin/bash",
        password,
        files = {},
    }: { shell?: string; password?: string; files?: Record<string, string> } = {}) {
        User.count += 1;
        this.name = `sgl${process.pid}x${User.count}`;
        const hash =
            password === undefined
                ? "*"
                : execFileSync("openssl", ["passwd", "-6", password], { encoding: "utf8" }).trim();
        execFileSync("useradd", ["--create-home", "--shell", shell, "--password", hash, this.name], {
            stdio: "ignore",
        });
        this.home = `/home/${this.name}`;
        for (const [name, text] of Object.entries(files)) {
            writeFileSync(join(this.home, name), text);
        }
    }

    /** Lets the user become root; `rule` is the last part of the sudoers line, e.g. `NOPASSWD: ALL`. */
    allowSudo(rule: string): void {
        this.sudoers = `/etc/sudoers.d/${this.name}`;
        writeFileSync(this.sudoers, `${this.name} ALL=(ALL) ${rule}\n`, { mode: 0o440 });
    }

    remove(): void {
        if (this.sudoers !== undefined) {
            rmSync(this.sudoers);
        }
        for (const pid of processes().filter(({ pid }) => ownerOf(pid) === this.name)) {
            signal(pid.pid, "SIGKILL");
        }
        execFileSync("userdel", ["--remove", "--force", this.name], { stdio: "ignore" });
    }
}

/** A port of 127.0.0.1 on which nobody listens. */
export async function freePort(): Promise<number> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    return port;
}

/** Waits until `test` holds, for at most `seconds`; whether it did. */
export async function within(seconds: number, test: () => boolean): Promise<boolean> {
    for (const end = Date.now() + seconds * 1000; Date.now() < end; await pause(50)) {
        if (test()) {
            return true;
        }
    }
    return test();
}

/** Whether a process exists and is no zombie. */
export function runs(pid: number): boolean {
    return processes().some((process) => process.pid === pid);
}

function below(pid: number): number[] {
    const all = processes();
    const children = (parent: number): number[] =>
        all
            .filter((process) => process.parent === parent)
            .flatMap((process) => [process.pid, ...children(process.pid)]);
    return children(pid);
}

function processes(): { pid: number; parent: number }[] {
    return readdirSync("/proc")
        .filter((name) => /^\d+$/.test(name))
        .flatMap((name) => {
            try {
                const [, state, parent] = readFileSync(`/proc/${name}/stat`, "utf8").match(/\) (\S) (\d+)/) ?? [];
                return state === undefined || state === "Z" ? [] : [{ pid: Number(name), parent: Number(parent) }];
            } catch {
                return [];
            }
        });
}

function ownerOf(pid: number): string {
    try {
        return execFileSync("stat", ["-c", "%U", `/proc/${pid}`], {
            encoding: "utf8",
            stdio: ["ignore", "pipe", "ignore"],
        }).trim();
    } catch {
        return "";
    }
}

function signal(pid: number, name: NodeJS.Signals): void {
    try {
        process.kill(pid, name);
    } catch {
        return;
    }
}

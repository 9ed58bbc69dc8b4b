import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Connection, connection } from "../../provider/connection";
import { below, signal } from "./processes";

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

    /** Connections that were begun, let in or not. */
    get connections(): number {
        return this.log.match(/^Connection from /gm)?.length ?? 0;
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

/** A port of 127.0.0.1 on which nobody listens. */
export async function freePort(): Promise<number> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    return port;
}

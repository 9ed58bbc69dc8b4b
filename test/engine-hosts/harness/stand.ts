import { execFile } from "node:child_process";
import { copyFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { controlPath } from "../../../provider/host/control";
import { Client, completion, standinWheels, Workspace } from "../../engine/harness";
import { TestHost, type TestHostOptions } from "../../hosts/testHost";
import { describeHosts, type HostWishes, MODEL, PORT } from "./fleet";

const run = promisify(execFile);

/** A workspace of the real engine, and real hosts that it can deploy the stand-in to. */
export class HostStand {
    private constructor(
        readonly workspace: Workspace,
        /** By their names in the stack. */
        readonly hosts: Record<string, TestHost>,
    ) {}

    /**
     * Boots a host for each name; with the wheels of the stand-in at /opt/wheels, and a model for it. `uv`: with this machine's
     * uv on its PATH, so that bases are made in no time.
     */
    static async up(options: Record<string, TestHostOptions>, { uv = false } = {}): Promise<HostStand> {
        const workspace = await Workspace.make();
        try {
            const wheels = standinWheels(workspace);
            const booted = await TestHost.up(...Object.values(options).map((one) => ({ wheels, ...one })));
            const names = Object.keys(options);
            const stand = new HostStand(workspace, Object.fromEntries(booted.map((host, at) => [names[at], host])));
            await Promise.all(booted.map((host) => host.exec("mkdir", "-p", MODEL)));
            if (uv) {
                copyFileSync(await uvProgram(), join(wheels, "uv"));
                await Promise.all(booted.map((host) => host.exec("ln", "-s", "/opt/wheels/uv", "/usr/local/bin/uv")));
            }
            return stand;
        } catch (error) {
            await workspace.close();
            throw error;
        }
    }

    host(name: string): TestHost {
        return this.hosts[name] as TestHost;
    }

    /** Writes the config: see `describeHosts`. */
    describe(wishes: HostWishes = {}, differs: Record<string, Record<string, unknown>> = {}): void {
        describeHosts(this.workspace, this.hosts, wishes, differs);
    }

    /** What a host's server completes with, asked over the network. */
    completion(name: string): Promise<string> {
        return completion(PORT, undefined, this.host(name).address);
    }

    /** A client that asks a host's server every 0.1 s. */
    client(name: string): Client {
        return new Client(PORT, this.host(name).address);
    }

    /** Ends the shared SSH connections; the next command logs in anew. */
    async disconnect(): Promise<void> {
        for (const host of Object.values(this.hosts)) {
            const socket = controlPath(host.connection());
            await run("ssh", ["-O", "exit", "-o", `ControlPath=${socket}`, "any"]).catch(() => undefined);
        }
    }

    /** Ends the hosts, every process of the workspace, and the workspace. */
    async down(): Promise<void> {
        await this.disconnect();
        await TestHost.down(...Object.values(this.hosts));
        await this.workspace.close();
    }
}

/** The path of uv itself, which may be a script's on PATH. */
async function uvProgram(): Promise<string> {
    const argv = ["run", "--no-project", "--quiet", "--", "sh", "-c", 'printf %s "$UV"'];
    return (await run("uv", argv, { cwd: tmpdir() })).stdout;
}

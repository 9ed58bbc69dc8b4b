/**
 * What a no-change preview of one host over SSH costs, against a provider that answers without looking:
 *   scripts/figures        as root, on a machine that does nothing else
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expectExit, processesOf, project } from "../engine/harness";
import type { TestHost } from "../hosts/testHost";
import { exchanged, HostStand, tap, tappedPython } from "./harness";

const ROUNDS = 5;
const floor = "test/engine/floor";

async function main(): Promise<void> {
    const stand = await HostStand.up({ one: {} }, { uv: true });
    try {
        const host = stand.host("one");
        stand.describe();
        expectExit(await stand.workspace.up());
        const times: Record<string, number[]> = { looking: [], again: [], floor: [] };
        for (let round = 0; round < ROUNDS; round++) {
            await stand.disconnect();
            times.looking?.push(await preview(stand, "provider"));
            times.again?.push(await preview(stand, "provider"));
            times.floor?.push(await preview(stand, floor));
        }
        await tap(host);
        stand.describe({ hosts: { one: { connection: { python: tappedPython } } } });
        // The state learns of the connection by an `up`; what that says is not counted.
        stand.workspace.provider("provider");
        expectExit(await stand.workspace.up());
        await exchanged(host);
        await stand.disconnect();
        const before = await logins(host);
        const watched = memoryOfProvider(stand);
        await preview(stand, "provider");
        const memory = await watched.stop();
        const exchange = await exchanged(host);
        const least = (name: string) => Math.min(...(times[name] as number[]));
        print({
            "load of the machine": loadavg()[0]?.toFixed(1),
            "preview, cold connection": `${least("looking").toFixed(2)} s`,
            "preview, shared connection": `${least("again").toFixed(2)} s`,
            "preview, floor": `${least("floor").toFixed(2)} s`,
            "cold above the floor": `${(least("looking") - least("floor")).toFixed(2)} s`,
            "shared above the floor": `${(least("again") - least("floor")).toFixed(2)} s`,
            "TCP connections": (await logins(host)) - before,
            "agents started": exchange.agents,
            "requests, results": `${exchange.requests}, ${exchange.results}`,
            "bytes to the agent, from it": `${exchange.sent}, ${exchange.received}`,
            "memory of the agent": `${exchange.memory.toFixed(0)} MB`,
            "memory of the provider": `${memory.toFixed(0)} MB`,
            "start of the provider": `${(await startOfProvider()).toFixed(2)} s`,
        });
    } finally {
        await stand.down();
    }
}

/** Seconds of a preview without change by this provider. */
async function preview(stand: HostStand, provider: string): Promise<number> {
    stand.workspace.provider(provider);
    return expectExit(await stand.workspace.pulumi("preview", "--expect-no-changes")).seconds;
}

/** Connections that a host's sshd has taken so far. */
async function logins(host: TestHost): Promise<number> {
    const { stdout } = await host.exec("journalctl", "-u", "ssh.service", "-o", "cat", "--no-pager");
    return stdout.split("\n").filter((line) => line.startsWith("Accepted ")).length;
}

/** Watches providers of a workspace; `stop` says the most memory that one had, in MB. */
function memoryOfProvider(stand: HostStand): { stop(): Promise<number> } {
    let running = true;
    let most = 0;
    const done = (async () => {
        while (running) {
            for (const { pid, argv } of processesOf(stand.workspace.folder)) {
                if (argv.some((word) => word.endsWith("provider/index.js"))) {
                    most = Math.max(most, peak(pid));
                }
            }
            await sleep(50);
        }
    })();
    return {
        async stop() {
            running = false;
            await done;
            return most / 1024;
        },
    };
}

function peak(pid: number): number {
    try {
        return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
    } catch {
        return 0; // gone meanwhile
    }
}

/** Seconds until the provider says its port; the least of some starts. */
async function startOfProvider(): Promise<number> {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
        const began = performance.now();
        const child = spawn(join(project, "provider/pulumi-resource-sglang"), ["127.0.0.1:1"]);
        await new Promise((resolve) => child.stdout.once("data", resolve));
        times.push((performance.now() - began) / 1000);
        child.kill();
    }
    return Math.min(...times);
}

function print(figures: Record<string, unknown>): void {
    for (const [name, value] of Object.entries(figures)) {
        console.log(`${name.padEnd(30)} ${value}`);
    }
}

void main();

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { rootOf } from "./fleet";
import { processesOf } from "./processes";
import type { Workspace } from "./workspace";

/** Pids of the servers that run from the workspace's host. */
export function servers(workspace: Workspace): number[] {
    return processesOf(workspace.host)
        .filter(({ argv }) => argv[1] === "-m" && argv[2] === "sglang.launch_server")
        .map(({ pid }) => pid);
}

/** Pid of the one server that runs from the workspace's host. */
export function server(workspace: Workspace): number {
    const pids = servers(workspace);
    assert.equal(pids.length, 1, JSON.stringify(processesOf(workspace.host)));
    return pids[0] as number;
}

/** Ids of the releases that are there, sorted. */
export function releases(workspace: Workspace): string[] {
    const folder = join(rootOf(workspace), "venvs/tiny/releases");
    const entries = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
    return entries
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name)
        .sort();
}

/** Stages that the service's activations have begun, oldest first; those that earlier ones left are among them. */
export function stages(workspace: Workspace): string[] {
    const service = join(rootOf(workspace), "services/chat");
    const journals = existsSync(service) ? readdirSync(service, { recursive: true, encoding: "utf8" }) : [];
    return journals
        .filter((path) => path.endsWith("journal.jsonl"))
        .flatMap((path) => readFileSync(join(service, path), "utf8").split("\n"))
        .filter((line) => line.endsWith("}"))
        .map((line) => JSON.parse(line) as { stage: string; event: string; at: number })
        .sort((one, other) => one.at - other.at)
        .filter(({ event }) => event === "begin")
        .map(({ stage }) => stage);
}

/** Looks every 20 ms until it is so; throws after `seconds`. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, seconds = 60): Promise<void> {
    const end = performance.now() + seconds * 1000;
    while (!(await holds())) {
        if (performance.now() > end) {
            throw new Error(`not within ${seconds} s: ${what}`);
        }
        await sleep(20);
    }
}

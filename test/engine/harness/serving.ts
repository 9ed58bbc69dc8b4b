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

/** Stages that the service's activation has begun after a time (seconds since the epoch), oldest first. */
export function stagesSince(workspace: Workspace, since: number): string[] {
    return readJournal(join(rootOf(workspace), "services/chat/activation/journal.jsonl"))
        .split("\n")
        .filter((line) => line.endsWith("}"))
        .map((line) => JSON.parse(line) as { stage: string; event: string; at: number })
        .sort((one, other) => one.at - other.at)
        .filter(({ event, at }) => event === "begin" && at > since)
        .map(({ stage }) => stage);
}

function readJournal(path: string): string {
    try {
        return readFileSync(path, "utf8");
    } catch {
        return ""; // the folder of the last activation makes way for the next one
    }
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

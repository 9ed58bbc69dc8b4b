import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { kill, processesOf, type Workspace } from "../../engine/harness";
import type { TestHost } from "../../hosts/testHost";
import { PORT, ROOT } from "./fleet";
import { type Activation, activation, processes, server } from "./onHost";

/** SIGKILL to the engine, its language host, the program, the provider and its ssh; `master`: to the shared connection too. */
export function killControl(workspace: Workspace, master: boolean): void {
    for (const { pid, argv } of processesOf(workspace.folder)) {
        if (master || !argv.join(" ").includes("[mux]")) {
            kill(pid, "SIGKILL");
        }
    }
}

/** How a host stands once nothing is under way on it. */
export interface Stand {
    activation: Activation;
    /** What the process that runs completes with. */
    answer: string;
    /** What one started now would: the text in the release that the stable link names. */
    linked: string;
}

/** Waits until the activation under way has ended by itself and its server answers; throws after `seconds`. Nothing here uses the network. */
export async function settled(host: TestHost, seconds: number): Promise<Stand> {
    const end = performance.now() + seconds * 1000;
    for (;;) {
        const found = await activation(host);
        const answer = found?.state === "running" ? undefined : await asked(host);
        if (found && answer !== undefined) {
            await server(host);
            return { activation: found, answer, linked: await linkedText(host) };
        }
        if (performance.now() > end) {
            throw new Error(
                `${host.name} is not settled after ${seconds} s: ${JSON.stringify(found)}, ${JSON.stringify(await processes(host))}`,
            );
        }
        await sleep(100);
    }
}

/** Throws unless a host stands as before or as wished, whole: link, process, answer and the activation's own word agree. */
export function oldOrNew(stand: Stand, old: string, wished: string): "old" | "new" {
    const committed = stand.activation.state === "committed";
    assert.equal(stand.answer, committed ? wished : old, JSON.stringify(stand));
    assert.equal(stand.linked, stand.answer, JSON.stringify(stand));
    return committed ? "new" : "old";
}

async function asked(host: TestHost): Promise<string | undefined> {
    const body = JSON.stringify({ model: "default", prompt: "hello", max_tokens: 4 });
    const { exit, stdout } = await host.exec(
        ...["curl", "--silent", "--fail", "--max-time", "5", "--header", "content-type: application/json"],
        ...["--data", body, `http://127.0.0.1:${PORT}/v1/completions`],
    );
    return exit === 0 ? (JSON.parse(stdout) as { choices: { text: string }[] }).choices[0]?.text : undefined;
}

async function linkedText(host: TestHost): Promise<string> {
    const module = `${ROOT}/services/chat/venv/lib/python3.11/site-packages/sglang/srt/answer.py`;
    return /^TEXT = "(.*)"$/m.exec((await host.exec("cat", module)).stdout)?.[1] ?? "";
}

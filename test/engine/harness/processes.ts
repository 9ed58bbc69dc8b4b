import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** A process, as `/proc` shows it. */
export interface Running {
    pid: number;
    argv: string[];
}

/** Processes that belong to a folder: it is in their argv, environment, executable or working directory. */
export function processesOf(folder: string): Running[] {
    return readdirSync("/proc")
        .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
        .filter((name) => belongs(`/proc/${name}`, folder))
        .map((name) => ({ pid: Number(name), argv: text(`/proc/${name}/cmdline`).split("\0").slice(0, -1) }))
        .filter((one) => one.argv.length > 0);
}

function belongs(proc: string, folder: string): boolean {
    return [text(`${proc}/cmdline`), text(`${proc}/environ`), link(`${proc}/exe`), link(`${proc}/cwd`)].some((fact) =>
        fact.includes(folder),
    );
}

/** Ends what belongs to a folder, by pid, and waits until it is gone. */
export async function endProcessesOf(folder: string): Promise<void> {
    for (let turn = 0; turn < 50; turn++) {
        const left = processesOf(folder);
        if (left.length === 0) {
            return;
        }
        for (const { pid } of left) {
            kill(pid, "SIGKILL");
        }
        await sleep(100);
    }
    throw new Error(`still running: ${JSON.stringify(processesOf(folder))}`);
}

/** Sends a signal; a process that is gone already is no error. */
export function kill(pid: number, signal: NodeJS.Signals): void {
    try {
        process.kill(pid, signal);
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") {
            throw error;
        }
    }
}

function text(path: string): string {
    try {
        return readFileSync(path, "latin1");
    } catch {
        return ""; // gone meanwhile, or another user's
    }
}

function link(path: string): string {
    try {
        return readlinkSync(path);
    } catch {
        return "";
    }
}

import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

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

/** The processes below one, children before their own children. */
export function below(pid: number): number[] {
    const all = processes();
    const children = (parent: number): number[] =>
        all
            .filter((process) => process.parent === parent)
            .flatMap((process) => [process.pid, ...children(process.pid)]);
    return children(pid);
}

/** Every process of this machine that is no zombie. */
export function processes(): { pid: number; parent: number }[] {
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

/** Sends a signal to a process that may be gone already. */
export function signal(pid: number, name: NodeJS.Signals): void {
    try {
        process.kill(pid, name);
    } catch {
        return;
    }
}

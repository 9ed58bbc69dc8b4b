import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const COMMANDS = ["up", "update", "preview", "pre", "refresh", "destroy", "down", "import", "watch"];

/**
 * The command of the engine that this process works for, as `refresh`; undefined when that cannot be told. The engine itself
 * does not say it, and a refresh has no program that could fail at its end.
 */
export function engineCommand(pid = process.ppid): string | undefined {
    return argv(pid)
        .slice(1)
        .find((word) => COMMANDS.includes(word));
}

function argv(pid: number): string[] {
    try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    } catch {
        try {
            return execFileSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" })
                .trim()
                .split(/\s+/);
        } catch {
            return [];
        }
    }
}

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** More lines than any screen of a test has, so that nothing scrolls away. */
const LINES = 500;

/** Why no terminal can be had here, or false. */
export function noTerminal(): string | false {
    try {
        execFileSync("tmux", ["-V"], { stdio: "ignore" });
        return false;
    } catch {
        return "there is no tmux";
    }
}

/**
 * What a person sees who runs a command in a terminal of so many columns and waits for its end: the screen as it is then,
 * without colours. `folder` is for the terminal's own files.
 */
export async function screen(
    columns: number,
    argv: string[],
    { folder, cwd, env }: { folder: string; cwd: string; env: NodeJS.ProcessEnv },
): Promise<string> {
    mkdirSync(folder, { recursive: true });
    const settings = join(folder, "tmux.conf");
    writeFileSync(settings, "set -g remain-on-exit on\nset -g remain-on-exit-format ''\nset -g status off\n");
    const tmux = (...args: string[]): string =>
        execFileSync("tmux", ["-S", join(folder, "socket"), "-f", settings, ...args], { cwd, env, encoding: "utf8" });
    tmux("new-session", "-d", "-x", String(columns), "-y", String(LINES), ...argv);
    try {
        while (tmux("display-message", "-p", "#{pane_dead}").trim() !== "1") {
            await sleep(200);
        }
        return `${tmux("capture-pane", "-p").trimEnd()}\n`;
    } finally {
        tmux("kill-server");
    }
}

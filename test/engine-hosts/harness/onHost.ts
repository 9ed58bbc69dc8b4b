import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestHost } from "../../hosts/testHost";
import { ROOT } from "./fleet";

/** Path => mode, size, time and target: what is on a host, as `walk.py` says it. */
export type Files = Record<string, string>;

/** A process of a host. */
export interface HostProcess {
    pid: number;
    parent: number;
    argv: string[];
}

/** Runs one of the scripts beside this file on a host, not over the network, and reads the JSON that it prints. */
async function ask<T>(host: TestHost, script: string, ...args: string[]): Promise<T> {
    const source = readFileSync(join(__dirname, script), "utf8");
    const { exit, stdout, stderr } = await host.exec("python3", "-I", "-S", "-B", "-c", source, ...args);
    assert.equal(exit, 0, `${host.name}: ${script}: ${stderr}`);
    return JSON.parse(stdout) as T;
}

/** All files of a host but kernel's, mounts, and `except` (path prefixes). Folders without their times when `times` is false. */
export function files(host: TestHost, except: string[] = [], times = true): Promise<Files> {
    return ask<Files>(host, "walk.py", JSON.stringify({ except, times }));
}

/** All processes of a host but those of logins, which come and go with connections. */
export function processes(host: TestHost): Promise<HostProcess[]> {
    return ask<HostProcess[]>(host, "processes.py");
}

/** The main processes of the servers that run on a host: those whose parent is no server. */
export async function servers(host: TestHost): Promise<number[]> {
    const running = (await processes(host)).filter(({ argv }) => argv.includes("sglang.launch_server"));
    const pids = new Set(running.map(({ pid }) => pid));
    return running.filter(({ parent }) => !pids.has(parent)).map(({ pid }) => pid);
}

/** The pid of the one server of a host; with it run its two children and nothing else of SGLang. */
export async function server(host: TestHost): Promise<number> {
    const pids = await servers(host);
    const all = await processes(host);
    assert.equal(pids.length, 1, JSON.stringify(all));
    const children = all.filter(({ argv }) => argv[0]?.startsWith("sglang::"));
    assert.deepEqual(children.map(({ parent, argv }) => [parent, argv[0]]).sort(), [
        [pids[0], "sglang::detokenizer"],
        [pids[0], "sglang::scheduler"],
    ]);
    return pids[0] as number;
}

/** Ids of the releases on a host, and what tells whether one was made anew: inode and time of its folder. */
export async function releases(host: TestHost): Promise<Record<string, string>> {
    const { stdout } = await host.exec("sh", "-c", `cd ${ROOT}/venvs/tiny/releases && stat -c '%F %n %i %Y' * || true`);
    const lines = stdout.split("\n").filter((line) => line.startsWith("directory "));
    return Object.fromEntries(
        lines.map((line) => line.split(" ").slice(1)).map(([id, ...facts]) => [id, facts.join(" ")]),
    );
}

/** Waits until the activation after another (its id) has begun a stage; false when it ended without. */
export async function begun(
    host: TestHost,
    stage: string,
    after: string | null,
    { seconds = 60, service = "chat" } = {},
): Promise<boolean> {
    return ask<boolean>(host, "stage.py", folderOf(service), stage, String(after), String(seconds));
}

/** What a host says of its last activation. */
export interface Activation {
    id: string;
    /** `running` until it has its result. */
    state: string;
    /** The stage that it began last. */
    stage: string;
}

/** A service's last activation; null when there was none. */
export function activation(host: TestHost, service = "chat"): Promise<Activation | null> {
    return ask(host, "activation.py", folderOf(service));
}

/** A server timed until it has answered: from the exit of another (its pid), or started by hand as the launcher would. */
export function timed(
    host: TestHost,
    from: { after: number } | { start: string },
    port: number,
): Promise<{ began: number; seconds: number }> {
    const what = "after" in from ? ["after", String(from.after)] : ["start", `${folderOf(from.start)}/spec.json`];
    return ask(host, "timed.py", ...what, String(port));
}

/** Everything below a folder of a host, with the times of each file: whatever is written to one shows. */
export function exactFiles(host: TestHost, folder: string): Promise<Files> {
    return ask<Files>(host, "exact.py", folder);
}

const folderOf = (service: string): string => `${ROOT}/services/${service}`;

/** The unit files that systemd knows on a host, and units that failed or have no file any more. */
export async function unitFiles(host: TestHost): Promise<string[]> {
    const { stdout } = await host.exec(
        "sh",
        "-c",
        "systemctl list-unit-files --no-legend --no-pager; systemctl list-units --all --no-legend --no-pager 'sglang*'; systemctl --failed --no-legend",
    );
    // A login's own scope comes and goes with it.
    return stdout.split("\n").filter((line) => line !== "" && !line.startsWith("session-"));
}

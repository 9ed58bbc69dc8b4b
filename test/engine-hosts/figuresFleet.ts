/**
 * What a no-change preview of many hosts costs, against a provider that answers without looking and against pyinfra's dry run, in turns:
 *   scripts/figures 1 10 20        as root, on a machine that does nothing else; needs uv, which gets pyinfra
 */
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expectExit } from "../engine/harness";
import type { TestHost } from "../hosts/testHost";
import { describeHosts, HostStand, ROOT } from "./harness";

const run = promisify(execFile);
const ROUNDS = 3;
const SERVICE = `${ROOT}/services/chat`;
const PYINFRA = "pyinfra==3.10";
/** Distributions of each venv: as many as a small real one has; pip among them, for pyinfra asks it. */
const DISTRIBUTIONS = 121;
const PIP = "pip==25.3";
/** Files of the venv that a deploy of pyinfra would put there. */
const WATCHED = ["version", "launch_server", "srt/answer", "srt/environ", "srt/server_args"].map(
    (module) => `sglang/${module}.py`,
);

async function main(counts: number[]): Promise<void> {
    const names = Array.from({ length: Math.max(...counts) }, (_, at) => `h${at}`);
    const stand = await HostStand.up(Object.fromEntries(names.map((name) => [name, {}])), { uv: true });
    try {
        const requirements = await distributions(join(stand.workspace.folder, "wheels"));
        console.log("hosts  looking  floor  above  pyinfra  above/pyinfra  load");
        for (const count of counts) {
            const hosts = Object.fromEntries(names.slice(0, count).map((name) => [name, stand.host(name)]));
            describeHosts(stand.workspace, hosts, { requirements });
            stand.workspace.provider("provider");
            expectExit(await stand.workspace.up());
            const peer = await Peer.of(stand, hosts);
            const times = { looking: [] as number[], floor: [] as number[], pyinfra: [] as number[] };
            for (let round = 0; round < ROUNDS; round++) {
                await stand.disconnect();
                times.looking.push(await preview(stand, "provider"));
                times.floor.push(await preview(stand, "test/engine/floor"));
                times.pyinfra.push(await peer.seconds());
            }
            const [looking, floor, pyinfra] = [median(times.looking), median(times.floor), median(times.pyinfra)];
            const above = looking - floor;
            const row = [looking, floor, above, pyinfra, above / pyinfra, loadavg()[0] as number];
            console.log([String(count).padStart(5), ...row.map((value) => value.toFixed(2).padStart(7))].join(" "));
        }
    } finally {
        await stand.down();
    }
}

/** Seconds of a preview without change by this provider. */
async function preview(stand: HostStand, provider: string): Promise<number> {
    stand.workspace.provider(provider);
    return expectExit(await stand.workspace.pulumi("preview", "--expect-no-changes")).seconds;
}

const median = (values: number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;

/** pyinfra's dry run of a deploy that changes nothing on these hosts. */
class Peer {
    private constructor(
        private readonly folder: string,
        private readonly environment: Record<string, string>,
    ) {}

    static async of(stand: HostStand, hosts: Record<string, TestHost>): Promise<Peer> {
        const folder = join(stand.workspace.folder, "peer");
        mkdirSync(folder, { recursive: true });
        const data = await Promise.all(
            Object.entries(hosts).map(async ([name, host]) => [name, await dataOf(name, host, folder)] as const),
        );
        const peer = new Peer(folder, { FIGURES_HOSTS: JSON.stringify(Object.fromEntries(data)) });
        await peer.seconds();
        return peer;
    }

    /** Throws unless it found nothing to do. */
    async seconds(): Promise<number> {
        const began = performance.now();
        const argv = ["tool", "run", "--quiet", "--from", PYINFRA, "pyinfra", "--dry"];
        const files = ["inventory.py", "deploy.py"].map((name) => join(__dirname, "peer", name));
        const { stdout, stderr } = await run("uv", [...argv, ...files], {
            cwd: this.folder,
            env: { ...process.env, ...this.environment },
            maxBuffer: 64 * 1024 * 1024,
        });
        const seconds = (performance.now() - began) / 1000;
        const rows =
            /Detected changes:\n[^\n]*Operation[^\n]*\n(.*?)\n\n/s.exec(stdout + stderr)?.[1]?.split("\n") ?? [];
        if (rows.length < 3 || !rows.every((row) => / - +- *$/.test(row))) {
            throw new Error(`pyinfra did not look, or found something to do:\n${stdout}${stderr}`);
        }
        return seconds;
    }
}

/** Adds wheels of what the stand-in does not bring to the hosts' folder; what a venv is to require. */
async function distributions(wheels: string): Promise<string[]> {
    const argv = ["tool", "run", "--quiet", PIP, "download", "--quiet", "--no-deps", "--dest", wheels, PIP];
    await run("uv", argv);
    const own = ["sglang==0.5.23+standin", "pybase64==1.4.2+standin", PIP];
    // The overlay brings one more.
    const count = DISTRIBUTIONS - own.length - 1;
    const { stdout } = await run("python3", [join(__dirname, "peer", "small_wheels.py"), wheels, String(count)]);
    return [...own, ...stdout.trim().split("\n")];
}

async function dataOf(name: string, host: TestHost, folder: string): Promise<Record<string, unknown>> {
    const site = `${SERVICE}/venv/lib/python3.11/site-packages`;
    const listed = await host.exec("sh", "-c", `cd ${site} && ls -d *.dist-info`);
    const packages = listed.stdout
        .trim()
        .split("\n")
        .map((one) => one.replace(/\.dist-info$/, "").replace(/-(?=[^-]*$)/, "=="))
        // pyinfra cannot read a version with a local label.
        .filter((one) => !one.includes("+"));
    const patterns = [...WATCHED.map((path) => `${site}/${path}`), `${SERVICE}/env-*.json`];
    const found = await host.exec("sh", "-c", `ls ${patterns.join(" ")} /etc/systemd/system/sglang-chat.service`);
    const files: Record<string, string> = {};
    for (const [at, path] of found.stdout.trim().split("\n").entries()) {
        const copy = join(folder, `${name}-${at}`);
        writeFileSync(copy, Buffer.from((await host.exec("base64", "-w0", path)).stdout, "base64"));
        files[path] = copy;
    }
    const { user, identityFile, knownHosts } = host.connection();
    return {
        ssh_hostname: host.address,
        ssh_user: user,
        ssh_key: identityFile,
        ssh_known_hosts_file: knownHosts,
        service: SERVICE,
        packages,
        files,
    };
}

void main(process.argv.slice(2).map(Number));

/**
 * Measures packages of a donor against `rsync -a` of the same bytes, from one real host to two others:
 *     node --require ts-node/register/transpile-only test/engine-hosts/donorFigures.ts
 * Needs root, rsync, and SGLANG_TEST_VENV: a venv with torch and its nvidia distributions. Takes some 20 GB and ten minutes.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { Contents } from "../../provider/donors/contents";
import { Donors } from "../../provider/donors/donors";
import { Memory } from "../../provider/donors/memory";
import { connectHost } from "../../provider/host/connect";
import { Hosts } from "../../provider/hosts";
import type { Work } from "../../provider/resource";
import {
    type PackageOverlayState,
    type PackageOverlayWish,
    packageOverlay,
} from "../../provider/resources/packageOverlay";
import { donorScript } from "../engine/harness";
import { TestHost } from "../hosts/testHost";

const ROOT = "/opt/sglang-fleet";
const packages = ["torch", "nvidia-*"];
const NAMES = "torch torchgen functorch nvidia";
const SITE = "lib/python3.11/site-packages";

async function main(): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), "donor-figures-"));
    const wheels = join(folder, "tools");
    mkdirSync(wheels);
    // The hosts have no rsync of their own.
    for (const path of ["/usr/bin/rsync", "/lib/x86_64-linux-gnu/libpopt.so.0"]) {
        copyFileSync(path, join(wheels, basename(path)));
    }
    const [donor, ...targets] = await TestHost.up({ wheels }, { wheels }, { wheels });
    try {
        for (const target of targets) {
            await target.exec("python3", "-I", "-c", donorScript, "/root/venv", "{}");
        }
        await measure(folder, donor, targets);
    } finally {
        rmSync(folder, { recursive: true, force: true });
        await TestHost.down(donor, ...targets);
    }
}

async function measure(folder: string, donor: TestHost, targets: TestHost[]): Promise<void> {
    const rsynced = await timed(() => rsync(targets[0]));
    console.log(`rsync -a of the same files from here to one host: ${rsynced.seconds.toFixed(1)} s`);
    const cache = join(folder, "contents");
    const first = session(cache, join(folder, "donors"));
    const inputs = (host: TestHost) => ({
        connection: host.connection(),
        root: ROOT,
        venv: "v",
        base: { adopt: "/root/venv" },
        overlays: [{ packages, from: { venv: "/opt/venv", connection: donor.connection() } }],
    });
    const context = { seed: Buffer.alloc(32), donors: first.donors, tell: { progress: say, warn: say } };
    const idle = memory();
    const looked = await timed(() => Promise.all(targets.map((host) => packageOverlay.resolve(inputs(host), context))));
    console.log(`look at the donor, all hashed: ${looked.seconds.toFixed(1)} s`);
    const wishes = looked.value;
    const made = await timed(() =>
        Promise.all(wishes.map((wish, at) => packageOverlay.apply(wish, undefined, first.work(targets[at])))),
    );
    const bytes = first.donors.counted.read;
    console.log(
        `to ${targets.length} hosts: ${rate(bytes, made.seconds)} read once; that is ${((targets.length * bytes) / 1e6 / made.seconds).toFixed(0)} MB/s to all of them, laid out and hashed; rsync: ${(bytes / 1e6 / rsynced.seconds).toFixed(0)} MB/s`,
    );
    const agents = await Promise.all([donor, ...targets].map(agentMemory));
    console.log(
        `most memory: ${memory()} MB here (${idle} MB before the first byte), the agents ${agents.join(", ")} MB`,
    );
    await first.close();

    const again = session(cache, join(folder, "donors"));
    const second = await timed(async () => {
        const known = { ...context, donors: again.donors };
        const asked = async (host: TestHost, at: number): Promise<void> => {
            const wish = await packageOverlay.resolve(inputs(host), { ...known, prior: wishes[at] });
            assert.equal(wish.digest, (made.value[at] as PackageOverlayState).digest);
            const facts = await again.hosts.at(host.connection()).look(ROOT);
            const state = packageOverlay.read(facts, "", {
                inputs: wishes[at] as PackageOverlayWish,
                state: made.value[at],
            });
            assert.deepEqual(packageOverlay.diff(state as PackageOverlayState, wish), []);
        };
        // Side by side, as the engine asks.
        await Promise.all(targets.map(asked));
    });
    console.log(`second run: ${second.seconds.toFixed(1)} s, ${again.donors.counted.read} bytes of content`);
    await again.close();

    const line = (venv: string, names: string) =>
        `cd ${venv}/${SITE} && find ${names} -type f ! -name '*.pyc' -print0 | sort -z | xargs -0 sha256sum`;
    const wanted = (await donor.exec("sh", "-c", line("/opt/venv", NAMES))).stdout;
    for (const host of targets) {
        const trees = `cd ${ROOT}/trees && for tree in *; do (cd $tree/site && find ${NAMES} -type f -print0 2>/dev/null | xargs -0r sha256sum); done | sort -k2 -u`;
        const found = (await host.exec("sh", "-c", trees)).stdout;
        const sorted = (text: string) => [...new Set(text.trim().split("\n"))].sort();
        assert.deepEqual(sorted(found), sorted(wanted));
    }
    console.log(`every one of ${wanted.trim().split("\n").length} files has the donor's hash on both hosts`);
}

function session(cache: string, memory: string) {
    const hosts = new Hosts((connection) => connectHost(connection), new Map());
    const donors = new Donors(hosts, undefined, new Contents(cache), new Memory(memory));
    const work = (host: TestHost): Work => ({
        host: hosts.at(host.connection()),
        donors,
        urn: `urn:${host.name}`,
        owner: "figures",
        progress: say,
        info: say,
        warn: say,
        signal: new AbortController().signal,
        isSecret: () => false,
        takeOver: false,
    });
    return { hosts, donors, work, close: () => hosts.close() };
}

async function timed<T>(act: () => Promise<T>): Promise<{ seconds: number; value: T }> {
    const began = Date.now();
    const value = await act();
    return { value, seconds: (Date.now() - began) / 1000 };
}

function rate(bytes: number, seconds: number): string {
    return `${(bytes / 1e9).toFixed(2)} GB in ${seconds.toFixed(1)} s, ${(bytes / 1e6 / seconds).toFixed(0)} MB/s`;
}

async function rsync(target: TestHost): Promise<void> {
    const venv = process.env.SGLANG_TEST_VENV as string;
    const ssh = `ssh -F ${target.sshConfigPath} -l root`;
    const path = "LD_LIBRARY_PATH=/opt/wheels /opt/wheels/rsync";
    const argv = ["-a", "-e", ssh, "--rsync-path", path, ...NAMES.split(" "), `${target.name}:/root/rsynced/`];
    await promisify(execFile)("rsync", argv, { cwd: join(venv, SITE) });
    await target.exec("rm", "-r", "/root/rsynced");
}

function memory(): string {
    return peak(readFileSync("/proc/self/status", "utf8"));
}

async function agentMemory(host: TestHost): Promise<string> {
    const line = "for p in $(pgrep -f '^[^ ]*python3 -B -I'); do cat /proc/$p/status; done";
    return peak((await host.exec("sh", "-c", line)).stdout);
}

function peak(status: string): string {
    const all = [...status.matchAll(/VmHWM:\s+(\d+)/g)].map(([, size]) => Number(size) / 1024);
    return Math.max(0, ...all).toFixed(0);
}

let told = 0;
function say(text: string): void {
    if (Date.now() - told > 3000) {
        told = Date.now();
        console.log(`  ${text}`);
    }
}

void main();

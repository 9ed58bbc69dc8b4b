import assert from "node:assert/strict";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { completion, expectExit, project } from "../engine/harness";
import { type TestHost, whyNoHosts } from "../hosts/testHost";
import {
    activation,
    begun,
    exactFiles,
    type Files,
    files,
    HostStand,
    killControl,
    MODEL,
    processes,
    ROOT,
    reached,
    realVenv,
    timed,
    unitFiles,
} from "./harness";

// Pulumi's SDK brings it, and reads Pulumi.yaml by it.
const { load } = require("js-yaml") as { load(text: string): { config: Record<string, unknown> } };

/** The dev stack: real SGLang on a CPU. Here a host under systemd serves it, from a venv that was there before. */
const dev = load(readFileSync(join(project, "Pulumi.dev.yaml"), "utf8")).config["sglang-fleet:fleet"] as {
    venvs: { cpu: Record<string, unknown> };
    services: { tiny: Record<string, unknown> };
};
const adopted = "/opt/venv";
const port = 31000;
const patched = "sglang/srt/entrypoints/http_server.py";
const real = whyNoHosts() === undefined ? realVenv((text) => process.stderr.write(`${text}\n`)) : undefined;
const venv = real !== undefined && "venv" in real ? real.venv : undefined;
const skip = whyNoHosts() ?? (real !== undefined && "why" in real ? real.why : undefined);
/** The journal is written by the host itself, at each login. SGLang and what it imports keep caches, which are theirs. */
const noise = [
    "/var/log/journal/",
    "/root/.cache",
    "/root/.triton",
    "/tmp/torchinductor_root",
    "/dev/shm",
    "/opt/venv",
];

describe("real SGLang over SSH under systemd, from an adopted venv", { skip }, () => {
    let stand: HostStand;
    let host: TestHost;
    let untouched: { venv: Files; files: Files; units: string[] };

    before(async () => {
        stand = await HostStand.up({ one: { venv } });
        host = stand.host("one");
        const makeModel = readFileSync(join(project, "dev/make_model.py"), "utf8");
        const made = await host.exec("sh", "-c", `rmdir ${MODEL} && exec python3 -B -c "$0" ${MODEL}`, makeModel);
        assert.equal(made.exit, 0, made.stderr);
        cpSync(join(project, "dev/kernel"), join(stand.workspace.folder, "dev/kernel"), { recursive: true });
        untouched = {
            venv: await exactFiles(host, adopted),
            files: await files(host, noise, false),
            units: await unitFiles(host),
        };
        declare("pulumi-sglang");
    });
    after(() => stand?.down());

    /** Writes the config: the dev stack's venv and service, and a patch that shows this word in /model_info. */
    function declare(word: string): void {
        const { workspace } = stand;
        const diff = readFileSync(join(project, "dev/patches/model_info.diff"), "utf8");
        workspace.write("dev/patches/model_info.diff", diff.replace('"pulumi-sglang"', JSON.stringify(word)));
        workspace.fleet({
            venvs: { cpu: { ...dev.venvs.cpu, base: { adopt: adopted } } },
            services: {
                tiny: {
                    ...dev.services.tiny,
                    ...{ model: MODEL, address: "0.0.0.0", port, supervisor: "systemd" },
                    ready: { timeout: "15m", stable: "3s" },
                },
            },
            hosts: { one: { connection: reached(host), services: ["tiny"] } },
        });
    }

    /** The word that the running server shows. */
    async function word(): Promise<unknown> {
        const answer = await fetch(`http://${host.address}:${port}/model_info`, {
            signal: AbortSignal.timeout(20_000),
        });
        return ((await answer.json()) as { patched_by?: string }).patched_by;
    }

    /** Pid of the one server. */
    async function server(): Promise<number> {
        const { stdout } = await host.exec("systemctl", "show", "-p", "MainPID", "--value", "sglang-tiny.service");
        return Number(stdout);
    }

    const release = () =>
        host.exec(
            "sh",
            "-c",
            `sha256sum < $(readlink -f ${ROOT}/services/tiny/venv/lib/python3.11/site-packages/${patched})`,
        );

    it("up serves a completion, patched, and preview then has no change", async () => {
        expectExit(await stand.workspace.up());
        assert.match(await completion(port, undefined, host.address), /^[a-z ]+$/);
        assert.equal(await word(), "pulumi-sglang");
        expectExit(await stand.workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("a changed line of the patch restarts it once, with the patched behaviour", async (t) => {
        const old = await server();
        declare("second");
        const again = timed(host, { after: old }, port);
        const began = Date.now() / 1000;
        const marks = await marked(t, stand, began);
        const { began: exit, seconds } = await again;
        assert.equal(await word(), "second");
        assert.notEqual(await server(), old);
        t.diagnostic(`from \`up\` to the exit of the old server: ${(exit - began).toFixed(1)} s (${marks})`);
        t.diagnostic(`from the old process's exit to the first answer of the new one: ${seconds.toFixed(1)} s`);
        taken.switched = seconds;
    });
    const taken = { switched: 0 };

    it("pulumi and the provider killed while it waits: it ends old or new, and the next up converges", async (t) => {
        const earlier = (await activation(host, "tiny"))?.id ?? null;
        declare("third");
        const up = stand.workspace.start("up", "--yes", "--skip-preview");
        assert.ok(await begun(host, "wait", earlier, { seconds: 300, service: "tiny" }));
        killControl(stand.workspace, true);
        await up.ended;
        let found = await activation(host, "tiny");
        for (const end = Date.now() + 300_000; found?.state === "running" && Date.now() < end; ) {
            await sleep(500);
            found = await activation(host, "tiny");
        }
        t.diagnostic(String(found?.state));
        assert.equal(await word(), found?.state === "committed" ? "third" : "second");
        const pids = (await processes(host)).filter(({ argv }) => argv.includes("sglang.launch_server"));
        assert.ok(pids.some(({ pid }) => pid > 1) && (await server()) > 0);
        expectExit(await stand.workspace.pulumi("cancel", "--yes"));
        expectExit(await stand.workspace.up());
        assert.equal(await word(), "third");
        expectExit(await stand.workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("the same server started by hand takes its time too: measured, for comparison", async (t) => {
        await host.exec("systemctl", "stop", "sglang-tiny.service");
        const { seconds } = await timed(host, { start: "tiny" }, port);
        t.diagnostic(
            `by hand: ${seconds.toFixed(1)} s; switched: ${taken.switched.toFixed(1)} s, ${(taken.switched / seconds).toFixed(2)}×`,
        );
        await host.exec("systemctl", "start", "sglang-tiny.service");
    });

    it("the adopted venv is as it was, and a cp over its files does not reach the running release", async () => {
        assert.deepEqual(differing(untouched.venv, await exactFiles(host, adopted)), []);
        const running = await release();
        const theirs = `${adopted}/lib/python3.11/site-packages/${patched}`;
        assert.equal((await host.exec("cp", "/etc/hostname", theirs)).exit, 0);
        assert.deepEqual(await release(), running);
        const written = await exactFiles(host, adopted);
        // The host's layer gets the folders above what is written, too.
        const touched = differing(untouched.venv, written).filter((path) => !theirs.startsWith(`${path}/`));
        assert.deepEqual(touched, [theirs]);
        untouched.venv = written;
    });

    it("destroy leaves nothing of ours, and the adopted venv as it was", async (t) => {
        expectExit(await stand.workspace.destroy());
        const left = differing(untouched.files, await files(host, noise, false));
        // Ends of sockets between SGLang's own processes, which it never removes.
        const [sockets, ours] = [left.filter(ofSglang), left.filter((path) => !ofSglang(path))];
        assert.deepEqual(ours, []);
        assert.deepEqual(await unitFiles(host), untouched.units);
        assert.deepEqual(differing(untouched.venv, await exactFiles(host, adopted)), []);
        assert.deepEqual(
            (await processes(host)).filter(({ argv }) => argv.join(" ").includes("sglang")),
            [],
        );
        const kept = await host.exec(
            "sh",
            "-c",
            "find /root/.cache /root/.triton /dev/shm /tmp/torchinductor_root -mindepth 1 -maxdepth 2 2>/dev/null",
        );
        t.diagnostic(
            `what SGLang keeps: ${sockets.length} of its sockets, ${kept.stdout.trim().split("\n").join(" ") || "nothing"}`,
        );
    });
});

/** Whether a path is one that SGLang takes from Python's tempfile. */
const ofSglang = (path: string): boolean => /^\/tmp\/tmp[a-z0-9_]{8}$/.test(path);

/** Paths at which two trees differ. */
function differing(before: Files, now: Files): string[] {
    return Object.keys({ ...before, ...now }).filter((path) => before[path] !== now[path]);
}

/** Runs `up`; when its parts began, in seconds since `began`, as text. */
async function marked(t: TestContext, stand: HostStand, began: number): Promise<string> {
    const parts = {
        "the engine's own": /SourcePatch one-cpu-patches updating/,
        patch: /Venv one-cpu updating/,
        release: /SglangService one-tiny updating/,
        gates: /SglangService one-tiny updating .*(saves what is there|stops the old server)/,
    };
    const up = stand.workspace.start("up", "--yes", "--skip-preview");
    let last = began;
    const said: string[] = [];
    for (const [name, pattern] of Object.entries(parts)) {
        await up.said(pattern);
        const now = Date.now() / 1000;
        said.push(`${name} ${(now - last).toFixed(1)} s`);
        last = now;
    }
    const outcome = expectExit(await up.ended);
    t.diagnostic(`\`up\`: ${outcome.seconds.toFixed(1)} s`);
    return said.join(", ");
}

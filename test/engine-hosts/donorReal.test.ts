import assert from "node:assert/strict";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { completion, expectExit, project } from "../engine/harness";
import { type TestHost, whyNoHosts } from "../hosts/testHost";
import { donateOn, HostStand, MODEL, ROOT, reached, realVenv } from "./harness";

// Pulumi's SDK brings it, and reads Pulumi.yaml by it.
const { load } = require("js-yaml") as { load(text: string): { config: Record<string, unknown> } };

/** The dev stack: real SGLang on a CPU. Here its torch comes from another host's venv. */
const dev = load(readFileSync(join(project, "Pulumi.dev.yaml"), "utf8")).config["sglang-fleet:fleet"] as {
    venvs: { cpu: { overlays: unknown[] } };
    services: { tiny: Record<string, unknown> };
};
const VENV = "/opt/venv";
const SITE = "lib/python3.11/site-packages";
const PACKAGES = "torch torchgen functorch nvidia torch-*.dist-info nvidia_*.dist-info";
const port = 31000;
const real = whyNoHosts() === undefined ? realVenv((text) => process.stderr.write(`${text}\n`)) : undefined;
const venv = real !== undefined && "venv" in real ? real.venv : undefined;
const skip = whyNoHosts() ?? (real !== undefined && "why" in real ? real.why : undefined);

describe("real SGLang on the real torch and CUDA libraries of another host", { skip }, () => {
    let stand: HostStand;
    let donor: TestHost;
    let target: TestHost;

    before(async () => {
        stand = await HostStand.up({ donor: { venv }, target: { venv } });
        stand.workspace.set({ XDG_CACHE_HOME: `${stand.workspace.folder}/cache` });
        [donor, target] = [stand.host("donor"), stand.host("target")];
        const makeModel = readFileSync(join(project, "dev/make_model.py"), "utf8");
        const made = await target.exec("sh", "-c", `rmdir ${MODEL} && exec python3 -B -c "$0" ${MODEL}`, makeModel);
        assert.equal(made.exit, 0, made.stderr);
        for (const name of ["kernel", "patches"]) {
            cpSync(join(project, "dev", name), join(stand.workspace.folder, "dev", name), { recursive: true });
        }
        // A venv whose torch is another one's, and that has no CUDA libraries at all.
        const gone = await target.exec("sh", "-c", `cd ${VENV}/${SITE} && rm -r ${PACKAGES}`);
        assert.equal(gone.exit, 0, gone.stderr);
        await donateOn(target, VENV, {
            torch: {
                version: "2.9.1+cu128",
                files: { "torch/__init__.py": "raise ImportError('built for CUDA 12')\n" },
            },
        });
        const packages = ["torch", "nvidia-*"];
        stand.workspace.fleet({
            venvs: {
                cpu: {
                    ...dev.venvs.cpu,
                    base: { adopt: VENV },
                    overlays: [...dev.venvs.cpu.overlays, { packages, from: { host: "donor", venv: VENV } }],
                },
            },
            services: {
                tiny: {
                    ...dev.services.tiny,
                    ...{ model: MODEL, address: "0.0.0.0", port, supervisor: "systemd" },
                    ready: { timeout: "15m", stable: "1s" },
                },
            },
            hosts: {
                donor: { connection: reached(donor) },
                target: { connection: reached(target), services: ["tiny"] },
            },
        });
    });
    after(() => stand?.down());

    /** sha256 of each file of these packages below a venv, but for bytecode, and for what names the installer or the prefix. */
    async function sums(host: TestHost, at: string): Promise<string[]> {
        const files = `find ${PACKAGES} -type f ! -name '*.pyc' ! -path '*.dist-info/RECORD' ! -path '*.dist-info/INSTALLER'`;
        const { stdout } = await host.exec(
            "sh",
            "-c",
            `cd ${at}/${SITE} && ${files} -print0 | sort -z | xargs -0 sha256sum`,
        );
        return stdout.trim().split("\n");
    }

    /** Bytes that a host has sent since it booted. */
    async function sent(host: TestHost): Promise<number> {
        return Number((await host.exec("cat", "/sys/class/net/host0/statistics/tx_bytes")).stdout);
    }

    it("serves a completion, and each file of them is the donor's", async (t) => {
        const began = await sent(donor);
        const outcome = expectExit(await stand.workspace.up());
        assert.match(await completion(port, undefined, target.address), /^[a-z ]+$/);
        t.diagnostic(
            `up: ${outcome.seconds.toFixed(0)} s, ${(((await sent(donor)) - began) / 1e9).toFixed(2)} GB from the donor`,
        );
        const release = `${ROOT}/venvs/cpu/releases/${(await stand.workspace.resources())["target-cpu"]?.outputs.release}`;
        const [wanted, found] = [await sums(donor, VENV), await sums(target, release)];
        assert.ok(wanted.length > 10_000, `${wanted.length} files`);
        assert.deepEqual(found, wanted);
    });

    it("has nothing to do a second time, and moves none of it", async () => {
        const began = await sent(donor);
        expectExit(await stand.workspace.pulumi("preview", "--expect-no-changes"));
        expectExit(await stand.workspace.up());
        const moved = (await sent(donor)) - began;
        assert.ok(moved < 5_000_000, `${moved} bytes`);
    });
});

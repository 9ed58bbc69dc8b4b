import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { completion, type Donated, expectExit, project } from "../engine/harness";
import { whyNoHosts } from "../hosts/testHost";
import { donateOn, HostStand, MODEL, reached } from "./harness";

const skip = whyNoHosts();
const PORT = 30001;
const WHEELS = "/opt/wheels";
const folder = "sglang/srt/speculative";

const torch = (label: string): Donated => ({
    version: `2.11.0+${label}`,
    files: {
        "torch/__init__.py": `from torch.version import __version__\nfrom torch import version\n`,
        "torch/version.py": `__version__ = '2.11.0+${label}'\ncuda = '${label === "cu130" ? "13.0" : "12.8"}'\n`,
        "torchgen/__init__.py": "",
        "functorch/__init__.py": "",
    },
});
const nvidia = (version: string, place: string): Donated => ({
    version,
    files: { [`nvidia/${place}/lib/libcudart.txt`]: version, "nvidia/__init__.py": "" },
});
/** As an extension that was linked with another libtorch: it fails where it is imported. */
const kernel: Donated = {
    version: "0.4.4",
    files: {
        "sgl_kernel/__init__.py":
            "import torch\nif torch.version.cuda != '13.0':\n    raise ImportError('sgl_kernel/common_ops.abi3.so: undefined symbol: _ZN3c104cuda9SetDeviceEab')\n",
    },
};
const triton = (version: string): Donated => ({ version, files: { "triton/__init__.py": "" } });

/** The five files that were patched by hand: two of the package, three of their own. */
const patches = (): Record<string, string> => ({
    [`${folder}/spec_info.py`]: readFileSync(join(project, "test/standin/src", folder, "spec_info.py"), "utf8")
        .replace("    DFLASH = auto()\n", "    DFLASH = auto()\n    DDTREE = auto()\n")
        .replace(
            "return self is SpeculativeAlgorithm.DFLASH",
            "return self in (SpeculativeAlgorithm.DFLASH, SpeculativeAlgorithm.DDTREE)\n\n    def is_ddtree(self):\n        return self is SpeculativeAlgorithm.DDTREE",
        ),
    [`${folder}/dflash_info.py`]: "BLOCK = 16\n",
    [`${folder}/dflash_worker.py`]: "from sglang.srt.speculative.dflash_info import BLOCK\n",
    [`${folder}/ddtree_utils.py`]: "import torchvision\n",
    "sglang/srt/server_args.py": `${readFileSync(join(project, "test/standin/src/sglang/srt/server_args.py"), "utf8")}\nPATCHED = True\n`,
});

const algorithm =
    "__import__('sglang.srt.speculative.spec_info', fromlist=['x']).SpeculativeAlgorithm.from_string('DDTREE')";

/** Field by field what was done by hand one evening: the stand-ins of two hosts, and a third that comes when the donor is gone. */
describe("DFlash on a rented host, from a donor", { skip }, () => {
    let stand: HostStand;
    let other: string;

    const listening = async (name: string, port: number): Promise<string> =>
        (
            await stand.host(name).exec("sh", "-c", `ss -Htlnp 'sport = :${port}' | grep -o 'pid=[0-9]*' | head -1`)
        ).stdout.trim();
    const declare = (hosts: string[], packages: string[], more: object[] = []) => {
        const overlays = [{ packages, from: { host: "ct129", venv: "/root/ml-env" } }, ...more];
        stand.workspace.fleet({
            defaults: { connection: { connectTimeout: 5 } },
            venvs: {
                dflash: {
                    base: { adopt: "/root/venv_sglang211" },
                    overlays,
                    patches: Object.keys(patches()).map((path) => ({
                        path,
                        file: `patches/${path.split("/").at(-1)}`,
                    })),
                    checks: {
                        // What its metadata says is missing is for the gate that imports: it names what nobody requires as well.
                        accept: ["pybase64"],
                        imports: [
                            "sgl_kernel",
                            "sglang.srt.speculative.ddtree_utils",
                            "sglang.srt.speculative.dflash_worker",
                        ],
                        assert: [
                            "__import__('torch').version.cuda == '13.0'",
                            `${algorithm}.is_dflash()`,
                            `${algorithm}.is_ddtree()`,
                        ],
                    },
                },
            },
            services: {
                dflash: {
                    venv: "dflash",
                    model: MODEL,
                    address: "0.0.0.0",
                    port: PORT,
                    env: { LD_LIBRARY_PATH: "{site}/nvidia/cu13/lib:{site}/nvidia/cuda_runtime/lib" },
                    ready: { timeout: "30s", stable: "1s" },
                },
            },
            hosts: {
                ct129: { connection: reached(stand.host("ct129")) },
                ...Object.fromEntries(
                    hosts.map((name) => [name, { connection: reached(stand.host(name)), services: ["dflash"] }]),
                ),
            },
        });
    };
    const all = ["torch", "triton", "sglang-kernel", "sglang", "nvidia-*"];
    const missing = [
        { packages: ["torchvision"], from: { directory: "vendor/torchvision", version: "0.26.0+cu130" } },
        { from: { wheel: "wheels/pybase64-1.4.2+standin-py3-none-any.whl" } },
    ];

    before(async () => {
        stand = await HostStand.up({ ct129: {}, ct200: {}, ct201: {} });
        for (const [path, text] of Object.entries(patches())) {
            stand.workspace.write(`patches/${path.split("/").at(-1)}`, text);
        }
        stand.workspace.write("vendor/torchvision/torchvision/__init__.py", "");
        stand.workspace.set({ XDG_CACHE_HOME: `${stand.workspace.folder}/cache` });
        await donateOn(stand.host("ct129"), "/root/ml-env", {
            torch: torch("cu130"),
            triton: triton("3.6.0"),
            "nvidia-cuda-runtime": nvidia("13.0.96", "cu13"),
            sglang: { wheel: `${WHEELS}/sglang-0.5.23+standin-py3-none-any.whl` },
            "sglang-kernel": kernel,
        });
        for (const name of ["ct200", "ct201"]) {
            await donateOn(stand.host(name), "/root/venv_sglang211", {
                torch: torch("cu128"),
                triton: triton("3.5.0"),
                "nvidia-cuda-runtime-cu12": nvidia("12.8.90", "cuda_runtime"),
            });
        }
        await stand.host("ct200").exec("systemd-run", "--unit=wrapper", "python3", "-m", "http.server", "30000");
        other = await listening("ct200", 30000);
    });
    after(() => stand?.down());

    it("kernels of the donor over the host's own torch fail in a gate that names the symbol and both builds", async () => {
        declare(["ct200"], ["sglang-kernel", "sglang"], missing);
        const { code, output } = await stand.workspace.up();
        assert.notEqual(code, 0);
        assert.match(output, /undefined symbol: _ZN3c104cuda9SetDeviceEab/);
        assert.match(output, /torch here is 2\.11\.0\+cu128/);
        assert.equal(await listening("ct200", PORT), "");
    });

    it("with the donor's torch, both modules that are missing are named at once", async () => {
        declare(["ct200"], all);
        const { code, output } = await stand.workspace.up();
        assert.notEqual(code, 0);
        assert.match(output, /gate imports: pybase64 is not installed/);
        assert.match(output, /gate imports: torchvision is not installed/);
    });

    it("with these added it serves, from what the donor has, and somebody else's server was not touched", async () => {
        declare(["ct200"], all, missing);
        expectExit(await stand.workspace.up());
        assert.equal(await completion(PORT, undefined, stand.host("ct200").address), "Paris.");
        const found = (await stand.workspace.resources())["ct200-dflash-overlays"]?.outputs.packages as Record<
            string,
            string
        >;
        assert.deepEqual(
            ["torch", "triton", "nvidia-cuda-runtime", "sglang-kernel"].map((name) => found[name]?.split(" ")[0]),
            ["2.11.0+cu130", "3.6.0", "13.0.96", "0.4.4"],
        );
        assert.equal(await listening("ct200", 30000), other);
        expectExit(await stand.workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("another host gets the same once the donor is off", async () => {
        await stand.host("ct129").powerOff();
        await stand.disconnect();
        declare(["ct200", "ct201"], all, missing);
        expectExit(await stand.workspace.up());
        assert.equal(await completion(PORT, undefined, stand.host("ct201").address), "Paris.");
    });
});

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type Donated, donate, expectExit, Workspace } from "./harness";

const small: Record<string, Donated> = {
    torch: {
        version: "2.11.0+cu130",
        files: {
            "torch/__init__.py": "VERSION = '2.11.0+cu130'\n",
            "torch/lib/libtorch.so": [300_000, 1],
            "torchgen/__init__.py": "",
            "functorch/__init__.py": "",
        },
        scripts: { torchrun: "import torch; print(torch.VERSION)\n" },
        data: { "share/torch/about.txt": "about\n" },
    },
    "nvidia-a": { version: "13.0", files: { "nvidia/a/lib/liba.so": [200_000, 2], "nvidia/__init__.py": "" } },
    "nvidia-b": { version: "13.1", files: { "nvidia/b/lib/libb.so": [100_000, 3], "nvidia/__init__.py": "" } },
    other: { version: "1", files: { "other.py": "" } },
};

/** One stack on this machine; each test goes on where the one before ended. */
describe("packages of a donor", () => {
    let workspace: Workspace;
    let donor: string;
    let target: string;
    let untouched: string[];
    const root = (name: string): string => join(workspace.host, name);

    const declare = (
        names: string[],
        from: object = { host: "donor", venv: donor },
        packages = ["torch", "nvidia-*"],
    ) => {
        const overlays = [{ packages, from }];
        workspace.fleet({
            defaults: { connection: { type: "local" } },
            venvs: { v: { base: { adopt: target }, overlays } },
            hosts: {
                donor: { root: root("donor") },
                ...Object.fromEntries(names.map((name) => [name, { root: root(name), venvs: ["v"] }])),
            },
        });
    };
    const release = async (name: string): Promise<string> => {
        const id = (await workspace.resources())[`${name}-v`]?.outputs.release;
        return join(root(name), "venvs/v/releases", String(id));
    };

    before(async () => {
        workspace = await Workspace.make();
        workspace.set({ XDG_CACHE_HOME: join(workspace.folder, "cache") });
        donor = join(workspace.folder, "donor-venv");
        target = join(workspace.folder, "target-venv");
        donate(donor, small);
        untouched = exact(donor);
        donate(target, {
            torch: { version: "2.11.0+cu128", files: { "torch/__init__.py": "VERSION = 'old'\n", "torch/old.py": "" } },
        });
    });
    after(() => workspace?.close());

    it("are laid over a venv as they are there, with scripts and data", async () => {
        declare(["here"]);
        expectExit(await workspace.up());
        const made = await release("here");
        const printed = execFileSync(join(made, "bin/torchrun"), { encoding: "utf8" });
        assert.equal(printed, "2.11.0+cu130\n");
        assert.equal(existsSync(join(made, "lib/python3.11/site-packages/torch/old.py")), false);
        assert.equal(readFileSync(join(made, "share/torch/about.txt"), "utf8"), "about\n");
        expectExit(await workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("are only looked at: no file of the donor was touched", async () => {
        assert.deepEqual(exact(donor), untouched);
    });

    it("are named with the donor when a pattern matches nothing, with the nearest names", async () => {
        declare(["here"], { host: "donor", venv: donor }, ["tortch", "torchgen"]);
        const { code, output } = await workspace.pulumi("preview");
        assert.equal(code, 1);
        for (const part of [
            "overlays[0].from: donor (local): `tortch` matches no distribution there; nearest: torch",
            "`torchgen` is a part of torch 2.11.0+cu130 and goes with it; name that instead",
            `where: ${donor}`,
        ]) {
            assert.ok(output.includes(part), output);
        }
    });

    it("may be the same host's: they are copied, and share nothing with the donor", async () => {
        declare(["here", "same"], { venv: donor });
        expectExit(await workspace.up());
        const site = join(await release("same"), "lib/python3.11/site-packages");
        assert.deepEqual(
            readFileSync(join(site, "torch/lib/libtorch.so")),
            readFileSync(join(donor, "lib/python3.11/site-packages/torch/lib/libtorch.so")),
        );
        assert.deepEqual(exact(donor), untouched);
        declare(["here"]);
        expectExit(await workspace.up());
    });

    it("that change on the donor are shown as its doing, and up takes them", async () => {
        donate(donor, {
            "nvidia-a": { ...small["nvidia-a"], version: "13.2" } as Donated,
            "nvidia-b": {
                ...small["nvidia-b"],
                files: { "nvidia/b/lib/libb.so": [100_000, 4], "nvidia/__init__.py": "" },
            } as Donated,
        });
        const plan = await workspace.plan();
        assert.deepEqual(plan.paths["here-v-overlays"], ['packages["nvidia-a"]', 'packages["nvidia-b"]']);
        const told = plan.messages.find((one) => one.includes("here-v-overlays")) ?? "";
        assert.match(told, /on the donor: nvidia-a 13\.0 [0-9a-f]{12} → 13\.2 [0-9a-f]{12}\n/);
        assert.match(
            told,
            /on the donor: nvidia-b 13\.1 [0-9a-f]{12} → 13\.1 [0-9a-f]{12} \(1 file changed on the donor\)/,
        );
        expectExit(await workspace.up());
        expectExit(await workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("that are pinned stay as they were taken", async () => {
        declare(["here"], { host: "donor", venv: donor, pin: true });
        expectExit(await workspace.pulumi("preview", "--expect-no-changes"));
        donate(donor, { "nvidia-a": { ...small["nvidia-a"], version: "13.3" } as Donated });
        expectExit(await workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("are imported as they were declared, with their patterns", async () => {
        declare(["here"]);
        expectExit(await workspace.up());
        const before = (await workspace.resources())["here-v-overlays"];
        workspace.write("lost.json", JSON.stringify({ version: 3, deployment: {} }));
        expectExit(await workspace.pulumi("stack", "import", "--file", "lost.json"));
        const at = (name: string) => ({ connection: { type: "local" }, root: root(name) });
        workspace.write("inventory.json", JSON.stringify({ here: at("here"), donor: at("donor") }));
        workspace.set({ SGLANG_FLEET_INVENTORY: join(workspace.folder, "inventory.json") });
        const resources = [{ type: "sglang:index:PackageOverlay", name: "here-v-overlays", id: "here/overlay/v" }];
        workspace.write("import.json", JSON.stringify({ resources }));
        const args = ["--file", "import.json", "--yes", "--skip-preview", "--generate-code=false", "--protect=false"];
        expectExit(await workspace.pulumi("import", ...args));
        const after = (await workspace.resources())["here-v-overlays"];
        assert.deepEqual(
            [after?.outputs.packages, after?.outputs.pins, after?.outputs.digest],
            [before?.outputs.packages, before?.outputs.pins, before?.outputs.digest],
        );
        const [overlay] = (after?.inputs.overlays ?? []) as { packages: string[]; from: { venv: string } }[];
        assert.deepEqual([overlay?.packages, overlay?.from.venv], [["torch", "nvidia-*"], donor]);
        expectExit(await workspace.up());
        expectExit(await workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("outlive the donor: what is staged stays with a warning, and another host gets the same", async () => {
        declare(["here"]);
        expectExit(await workspace.up());
        renameSync(donor, `${donor}.gone`);
        const preview = expectExit(await workspace.pulumi("preview", "--expect-no-changes"));
        assert.match(preview.output, /donor donor:\S+ cannot be asked, so what was taken from it before is used: /);
        declare(["here", "later"]);
        expectExit(await workspace.up());
        const [one, other] = [await release("here"), await release("later")];
        const site = "lib/python3.11/site-packages";
        for (const path of ["torch/lib/libtorch.so", "nvidia/b/lib/libb.so", "torchgen/__init__.py"]) {
            assert.deepEqual(readFileSync(join(other, site, path)), readFileSync(join(one, site, path)));
        }
    });

    it("come from another host of the stack when also the cache is gone", async () => {
        rmSync(join(workspace.folder, "cache"), { recursive: true });
        declare(["here", "later", "last"]);
        expectExit(await workspace.up());
        expectExit(await workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("that nobody has are an error with its cause and what mends it", async () => {
        rmSync(join(workspace.folder, "cache"), { recursive: true });
        declare(["here"], { host: "donor", venv: join(workspace.folder, "never") });
        const { code, output } = await workspace.pulumi("preview");
        assert.equal(code, 1);
        assert.ok(output.includes(`${join(workspace.folder, "never")} is not a Python venv`), output);
        expectExit(await workspace.destroy());
        renameSync(`${donor}.gone`, donor);
    });
});

/** All that a stat says of each file of a tree, but for access times. */
function exact(top: string): string[] {
    const paths = readdirSync(top, { recursive: true }).map(String).sort();
    return paths.map((path) => {
        const { ino, mode, nlink, size, mtimeNs, ctimeNs } = lstatSync(join(top, path), { bigint: true });
        return [path, ino, mode, nlink, size, mtimeNs, ctimeNs].join(" ");
    });
}

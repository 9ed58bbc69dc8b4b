import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
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
});

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { expectExit, standinWheels, Workspace } from "./harness";

it("an overlay from an index is fetched by the host for the Python of the venv's base, and lies in the release", async () => {
    const workspace = await Workspace.make();
    try {
        const wheels = standinWheels(workspace);
        workspace.write("lock.txt", "--no-index\nsglang==0.5.23+standin\n");
        const base = { python: "3.11", requirements: "lock.txt", findLinks: [wheels] };
        const overlays = [{ from: { index: "pybase64==1.4.2+standin", findLinks: [wheels] } }];
        const host = { connection: { type: "local" }, root: join(workspace.host, "fleet"), venvs: ["v"] };
        workspace.fleet({ venvs: { v: { base, overlays } }, hosts: { here: host } });
        expectExit(await workspace.up());
        const made = (await workspace.resources())["here-v"]?.outputs.release;
        const site = join(host.root, "venvs/v/releases", String(made), "lib/python3.11/site-packages");
        assert.equal(existsSync(join(site, "pybase64/__init__.py")), true);
        expectExit(await workspace.pulumi("preview", "--expect-no-changes"));
        expectExit(await workspace.destroy());
    } finally {
        await workspace.close();
    }
});

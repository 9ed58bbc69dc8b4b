import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
    completion,
    describeFleet,
    expectExit,
    freePort,
    processesOf,
    releases,
    rootOf,
    server,
    tree,
    Workspace,
} from "./harness";

/** One host, all five resources, through their whole life by the real engine. Each test goes on where the one before ended. */
describe("a local host under the real engine", () => {
    let workspace: Workspace;
    let port: number;
    const rows = ["here-tiny-overlays", "here-tiny-patches", "here-tiny", "here-chat-env", "here-chat"];

    before(async () => {
        workspace = await Workspace.make();
        port = await freePort();
        describeFleet(workspace, { port });
    });
    after(() => workspace.close());

    it("preview lists what is to be made, and writes nothing on the host", async () => {
        const untouched = tree(workspace.host);
        const { changes } = await workspace.plan();
        assert.deepEqual(tree(workspace.host), untouched);
        assert.deepEqual(
            Object.keys(changes)
                .filter((name) => rows.includes(name))
                .sort(),
            [...rows].sort(),
        );
        assert.deepEqual([...new Set(Object.values(changes))], ["create"]);
    });

    it("up serves, and the patched module answers", async () => {
        expectExit(await workspace.up());
        assert.equal(await completion(port), "Lyon.");
    });

    it("preview afterwards has no change, and exits 0 when none is expected", async () => {
        expectExit(await workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("up again changes nothing: same process, same files", async () => {
        const [pid, files] = [server(workspace), tree(join(rootOf(workspace), "venvs"))];
        expectExit(await workspace.up("--expect-no-changes"));
        assert.equal(server(workspace), pid);
        assert.deepEqual(tree(join(rootOf(workspace), "venvs")), files);
    });

    it("a changed line of a patch shows as that line in preview", async () => {
        describeFleet(workspace, { port, answer: "Nice." });
        const preview = expectExit(await workspace.pulumi("preview", "--diff"));
        assert.match(preview.output, /^\s*[-+].*TEXT = "Nice\."/m);
        assert.equal(await completion(port), "Lyon.");
    });

    it("up makes a second release, restarts once, and answers with the new patch", async () => {
        const old = server(workspace);
        expectExit(await workspace.up());
        assert.equal(await completion(port), "Nice.");
        assert.notEqual(server(workspace), old);
        assert.equal(releases(workspace).length, 2);
    });

    it("the old config goes back to the first release without building", async () => {
        const built = releases(workspace);
        describeFleet(workspace, { port });
        expectExit(await workspace.up());
        assert.equal(await completion(port), "Lyon.");
        assert.deepEqual(releases(workspace), built);
    });

    it("refresh finds nothing that differs", async () => {
        expectExit(await workspace.pulumi("refresh", "--yes", "--skip-preview", "--expect-no-changes"));
    });

    it("destroy leaves nothing: no file, no process", async () => {
        expectExit(await workspace.destroy());
        assert.deepEqual(readdirSync(workspace.host), []);
        assert.deepEqual(processesOf(workspace.host), []);
    });
});

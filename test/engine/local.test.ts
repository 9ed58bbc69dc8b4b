import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { bare, completion, describeFleet, expectExit, processesOf, releases, rootOf, server, tree } from "./harness";

/** One host, all five resources, through their whole life by the real engine. Each test goes on where the one before ended. */
describe("a local host under the real engine", () => {
    const on = bare();
    const rows = ["here-tiny-overlays", "here-tiny-patches", "here-tiny", "here-chat-env", "here-chat"];

    before(() => describeFleet(on.workspace, { port: on.port }));

    it("preview lists what is to be made, and writes nothing on the host", async () => {
        const untouched = tree(on.workspace.host);
        const { changes } = await on.workspace.plan();
        assert.deepEqual(tree(on.workspace.host), untouched);
        assert.deepEqual(
            Object.keys(changes)
                .filter((name) => rows.includes(name))
                .sort(),
            [...rows].sort(),
        );
        assert.deepEqual([...new Set(Object.values(changes))], ["create"]);
    });

    it("up serves, and the patched module answers", async () => {
        expectExit(await on.workspace.up());
        assert.equal(await completion(on.port), "Lyon.");
    });

    it("preview afterwards has no change, and exits 0 when none is expected", async () => {
        expectExit(await on.workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("up again changes nothing: same process, same files", async () => {
        const [pid, files] = [server(on.workspace), tree(join(rootOf(on.workspace), "venvs"))];
        expectExit(await on.workspace.up("--expect-no-changes"));
        assert.equal(server(on.workspace), pid);
        assert.deepEqual(tree(join(rootOf(on.workspace), "venvs")), files);
    });

    it("a changed line of a patch shows as that line in preview", async () => {
        describeFleet(on.workspace, { port: on.port, answer: "Nice." });
        const preview = expectExit(await on.workspace.pulumi("preview", "--diff"));
        assert.match(preview.output, /^\s*[-+].*TEXT = "Nice\."/m);
        assert.equal(await completion(on.port), "Lyon.");
    });

    it("up makes a second release, restarts once, and answers with the new patch", async () => {
        const old = server(on.workspace);
        expectExit(await on.workspace.up());
        assert.equal(await completion(on.port), "Nice.");
        assert.notEqual(server(on.workspace), old);
        assert.equal(releases(on.workspace).length, 2);
    });

    it("the old config goes back to the first release without building", async () => {
        const built = releases(on.workspace);
        describeFleet(on.workspace, { port: on.port });
        expectExit(await on.workspace.up());
        assert.equal(await completion(on.port), "Lyon.");
        assert.deepEqual(releases(on.workspace), built);
    });

    it("refresh finds nothing that differs", async () => {
        expectExit(await on.workspace.pulumi("refresh", "--yes", "--skip-preview", "--expect-no-changes"));
    });

    it("destroy leaves nothing: no file, no process", async () => {
        expectExit(await on.workspace.destroy());
        assert.deepEqual(readdirSync(on.workspace.host), []);
        assert.deepEqual(processesOf(on.workspace.host), []);
    });
});

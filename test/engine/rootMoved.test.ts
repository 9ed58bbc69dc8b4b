import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { completion, describeFleet, expectExit, releases, rootOf, served, server, type Wishes } from "./harness";

/** All on a host is made anew below another root. Each test goes on where the one before ended. */
describe("a host that is to have another root", () => {
    const on = served();
    const declare = (wishes: Partial<Wishes> = {}) => describeFleet(on.workspace, { port: on.port, ...wishes });
    const elsewhere = () => join(on.workspace.host, "elsewhere");
    let kept: string[];
    let pid: number;

    it("keeps its old one, the idle releases too, when no venv can be made below the new one", async () => {
        declare({ answer: "Nice." });
        expectExit(await on.workspace.up());
        [kept, pid] = [releases(on.workspace), server(on.workspace)];
        assert.equal(kept.length, 2);
        declare({ root: elsewhere(), requirements: ["nosuch==1"] });
        for (const more of [[], ["--continue-on-error=false"]]) {
            const { output } = expectExit(await on.workspace.up(...more), 1);
            assert.match(output, /nosuch/);
            assert.deepEqual(releases(on.workspace), kept);
            assert.equal(server(on.workspace), pid);
            assert.equal(await completion(on.port), "Nice.");
        }
    });

    it("goes back to the old root, and to an idle release of it, as if nothing had been", async () => {
        declare();
        expectExit(await on.workspace.up());
        assert.equal(await completion(on.port), "Lyon.");
        assert.deepEqual(releases(on.workspace), kept);
        assert.equal(existsSync(elsewhere()), false);
    });

    it("leaves the old root when all of it is made below the new one", async () => {
        declare({ root: elsewhere() });
        expectExit(await on.workspace.up());
        assert.equal(await completion(on.port), "Lyon.");
        assert.equal(existsSync(rootOf(on.workspace)), false);
        expectExit(await on.workspace.destroy());
        assert.equal(existsSync(elsewhere()), false);
    });
});

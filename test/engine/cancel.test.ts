import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
    completion,
    describeFleet,
    expectExit,
    freePort,
    server,
    servers,
    stagesSince,
    until,
    Workspace,
} from "./harness";

/** One ^C on the terminal reaches the engine, which tells the provider, which tells the agent. */
describe("one interrupt of up", () => {
    let workspace: Workspace;
    let port: number;
    const wish = (answer: string, readyAfter: number, checks = {}) =>
        describeFleet(workspace, {
            port,
            answer,
            env: { STANDIN_READY_AFTER: String(readyAfter) },
            service: { checks },
        });

    before(async () => {
        workspace = await Workspace.make();
        port = await freePort();
        wish("old", 0);
        expectExit(await workspace.up());
    });
    after(() => workspace.close());

    it("during the gates leaves the running server alone, and says so", async () => {
        const pid = server(workspace);
        wish("gated", 0, { assert: ["__import__('time').sleep(30) is None"] });
        const up = workspace.start("up", "--yes", "--skip-preview");
        await up.said(/gate asserts/);
        up.child.kill("SIGINT");
        const { output } = expectExit(await up.ended, 1);
        assert.match(output, /error: cancelled: here \(local\): cancelled before anything that runs was touched/);
        assert.equal(server(workspace), pid);
    });

    it("after the old server was stopped goes on until the new one serves; the next up has nothing to do", async () => {
        wish("new", 4);
        const since = Date.now() / 1000;
        const up = workspace.start("up", "--yes", "--skip-preview");
        await until("stage wait", () => stagesSince(workspace, since).includes("wait"));
        up.child.kill("SIGINT");
        const { output } = expectExit(await up.ended, 1);
        assert.match(output, /error: update canceled/);
        assert.equal(await completion(port), "new");
        assert.equal(servers(workspace).length, 1);
        expectExit(await workspace.up("--expect-no-changes"));
    });
});

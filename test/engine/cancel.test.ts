import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
    completion,
    describeFleet,
    expectExit,
    kill,
    processesOf,
    type Started,
    served,
    server,
    servers,
    stagesSince,
    until,
} from "./harness";

/** Far less than what the new server takes. */
const SECONDS = 15;

/** One ^C on the terminal reaches the engine, which tells the provider, which tells the agent. */
describe("one interrupt of up", () => {
    const wishes = (answer: string, readyAfter: number, checks = {}) => ({
        answer,
        env: { STANDIN_READY_AFTER: String(readyAfter) },
        service: { checks },
    });
    const on = served(wishes("old", 0));
    const wish = (...wished: Parameters<typeof wishes>) =>
        describeFleet(on.workspace, { port: on.port, ...wishes(...wished) });

    it("during the gates leaves the running server alone, and says so", async () => {
        const pid = server(on.workspace);
        wish("gated", 0, { assert: ["__import__('time').sleep(30) is None"] });
        const up = on.workspace.start("up", "--yes", "--skip-preview");
        await up.said(/gate asserts/);
        const { output, seconds } = await interrupted(up);
        assert.match(output, /error: cancelled: here \(local\): cancelled before anything that runs was touched/);
        assert.ok(seconds < SECONDS, `it took ${seconds} s`);
        assert.equal(server(on.workspace), pid);
    });

    it("after the old server was stopped ends too, and says that the host goes on; the next up follows to the end", async () => {
        wish("new", 30);
        const since = Date.now() / 1000;
        const up = on.workspace.start("up", "--yes", "--skip-preview");
        await until("stage wait", () => stagesSince(on.workspace, since).includes("wait"));
        const { output, seconds } = await interrupted(up);
        assert.match(output, /service chat goes on by itself until the new or the old server serves/);
        assert.match(output, /To mend it: run `pulumi up` again: it follows to the end/);
        assert.ok(seconds < SECONDS, `it took ${seconds} s`);
        expectExit(await on.workspace.up());
        assert.equal(await completion(on.port), "new");
        assert.equal(servers(on.workspace).length, 1);
        expectExit(await on.workspace.up("--expect-no-changes"));
    });

    it("that ends the provider only, as a shutdown may, is told without a stack of the SDK's calls", async () => {
        wish("newer", 6);
        const since = Date.now() / 1000;
        const up = on.workspace.start("up", "--yes", "--skip-preview");
        await until("stage wait", () => stagesSince(on.workspace, since).includes("wait"));
        const providers = processesOf(on.workspace.folder).filter(({ argv }) => argv[1]?.endsWith("provider/index.js"));
        assert.ok(providers.length > 0);
        for (const { pid } of providers) {
            kill(pid, "SIGTERM");
        }
        const { output } = expectExit(await up.ended, 1);
        assert.match(output, /service chat goes on by itself until the new or the old server serves/);
        assert.doesNotMatch(output, /unhandled exception|invocation of|\n\s+at /);
        assert.deepEqual((await on.workspace.stackOutputs()).endpoints, {
            here: { chat: `http://127.0.0.1:${on.port}` },
        });
        expectExit(await on.workspace.up());
        assert.equal(await completion(on.port), "newer");
    });

    /** Sends one ^C; how the command ended, without a word of the SDK about its own calls, and how long that took. */
    async function interrupted(up: Started): Promise<{ output: string; seconds: number }> {
        const began = performance.now();
        up.child.kill("SIGINT");
        const { output } = expectExit(await up.ended, 1);
        assert.doesNotMatch(output, /failed to deliver|Channel has been shut down|\n\s+at /);
        return { output, seconds: (performance.now() - began) / 1000 };
    }
});

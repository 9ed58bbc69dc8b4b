import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { describe, it } from "node:test";
import { answerDiff, bare, completion, describeFleet, expectExit, processesOf, releases, server } from "./harness";

/** An up that fails in its middle: what is there is in the state. */
describe("an up that fails half-way", () => {
    const on = bare();
    const declare = (diff?: string) => describeFleet(on.workspace, { port: on.port, diff });
    const kept = async () =>
        Object.keys(await on.workspace.resources())
            .filter((name) => name.startsWith("here-"))
            .sort();

    const fail = async () => {
        declare(answerDiff("Nice.", "Rome."));
        const { output } = expectExit(await on.workspace.up(), 1);
        assert.match(output, /Venv here-tiny \*\*creating failed/);
        // The base and the layers are on the host, and their owners in the state; the service was never begun.
        assert.deepEqual(await kept(), ["here-chat-env", "here-tiny", "here-tiny-overlays", "here-tiny-patches"]);
        assert.deepEqual(releases(on.workspace), []);
    };

    it("and is the first is ended by the next up, which does the rest only", async () => {
        await fail();
        declare();
        const { changes, paths } = await on.workspace.plan();
        // What was read again and differs in nothing has a row of its own after a failed command.
        const rows = Object.entries(changes).filter(([name, op]) => op !== "refresh" || paths[name]?.length !== 0);
        assert.deepEqual(Object.fromEntries(rows.filter(([name]) => name.startsWith("here-"))), {
            "here-tiny-patches": "update",
            "here-tiny": "update",
            "here-chat": "create",
        });
        expectExit(await on.workspace.up());
        assert.equal(await completion(on.port), "Lyon.");
    });

    it("of an update leaves what runs, says what is there in the next preview, and is ended by the next up", async () => {
        const pid = server(on.workspace);
        declare(answerDiff("Nice.", "Rome."));
        const { output } = expectExit(await on.workspace.up(), 1);
        assert.match(output, /Venv here-tiny \*\*updating failed/);
        assert.deepEqual([await completion(on.port), server(on.workspace)], ["Lyon.", pid]);
        declare();
        const { paths } = await on.workspace.plan();
        assert.deepEqual(paths["here-tiny-patches"], ['files["module:sglang.srt.answer"]']);
        assert.deepEqual(paths["here-chat"], []);
        expectExit(await on.workspace.up());
        assert.deepEqual([await completion(on.port), server(on.workspace)], ["Lyon.", pid]);
        expectExit(await on.workspace.pulumi("preview", "--expect-no-changes"));
        expectExit(await on.workspace.destroy());
    });

    it("and is the first is taken back by destroy, which leaves the host clean", async () => {
        await fail();
        expectExit(await on.workspace.destroy());
        assert.deepEqual(readdirSync(on.workspace.host), []);
        assert.deepEqual(processesOf(on.workspace.host), []);
        assert.deepEqual(await kept(), []);
    });
});

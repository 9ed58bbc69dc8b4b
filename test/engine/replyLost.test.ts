import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import {
    bare,
    completion,
    Dropping,
    describeFleet,
    expectExit,
    processesOf,
    releases,
    rootOf,
    server,
    stagesSince,
    type Workspace,
} from "./harness";

/** The connection is lost when the work is done and its answer is on the way. Each test goes on where the one before ended. */
describe("an answer that is lost", () => {
    const on = bare();
    let dropping: Dropping;
    const declare = (answer: string) =>
        describeFleet(on.workspace, { port: on.port, answer, connection: { python: dropping.python } });
    const made = () =>
        releases(on.workspace).map((id) => statSync(join(rootOf(on.workspace), "venvs/tiny/releases", id)).ino);
    /** Runs a command that loses the answer to an operation on a resource; it fails, and the state has that resource all the same. */
    const lose = async (operation: string, resource: string, command: () => ReturnType<Workspace["up"]>) => {
        dropping.drop(operation);
        const { code, output } = await command();
        assert.equal(code, 1, output);
        assert.match(output, new RegExp(`the connection was lost during ${operation}`));
        assert.ok(dropping.done, output);
        assert.ok((await on.workspace.resources())[resource], output);
    };
    const up = () => on.workspace.up();
    /** Asserts that the next `up` has nothing to do on the host, and nothing is left for the one after it. */
    const assertDone = async (answer: string) => {
        const [pid, releasesMade, since] = [server(on.workspace), made(), Date.now() / 1000];
        assert.equal(await completion(on.port), answer);
        expectExit(await on.workspace.up());
        assert.deepEqual([server(on.workspace), made(), stagesSince(on.workspace, since)], [pid, releasesMade, []]);
        expectExit(await on.workspace.pulumi("preview", "--expect-no-changes"));
    };

    before(() => {
        dropping = new Dropping(on.workspace);
        declare("Lyon.");
    });

    it("is no reason to do a part again that was made", async () => {
        await lose("overlay.stage", "here-tiny-overlays", up);
        await lose("venv.make", "here-tiny", up);
        const before = made();
        assert.equal(before.length, 1);
        await lose("service.activate", "here-chat", up);
        assert.deepEqual(made(), before);
        await assertDone("Lyon.");
    });

    it("is no reason to do a change again that was made", async () => {
        declare("Nice.");
        await lose("patch.stage", "here-tiny-patches", up);
        await lose("venv.make", "here-tiny", up);
        await lose("service.activate", "here-chat", up);
        await assertDone("Nice.");
    });

    it("does not keep the next destroy from what is left", async () => {
        for (const [operation, resource] of [
            ["service.remove", "here-chat"],
            ["env.remove", "here-chat-env"],
            ["venv.remove", "here-tiny"],
            ["patch.remove", "here-tiny-patches"],
            ["overlay.remove", "here-tiny-overlays"],
        ] as const) {
            const target = ["--target", `**::${resource}`];
            await lose(operation, resource, () => on.workspace.destroy(...target));
            expectExit(await on.workspace.destroy(...target));
            assert.equal((await on.workspace.resources())[resource], undefined);
        }
        assert.deepEqual([readdirSync(on.workspace.host), processesOf(on.workspace.host)], [[], []]);
    });
});

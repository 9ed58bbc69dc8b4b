import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
    completion,
    Dropping,
    describeFleet,
    expectExit,
    freePort,
    processesOf,
    releases,
    rootOf,
    server,
    stagesSince,
    Workspace,
} from "./harness";

/** The connection is lost when the work is done and its answer is on the way. Each test goes on where the one before ended. */
describe("an answer that is lost", () => {
    let workspace: Workspace;
    let dropping: Dropping;
    let port: number;
    const declare = (answer: string) =>
        describeFleet(workspace, { port, answer, connection: { python: dropping.python } });
    const made = () =>
        releases(workspace).map((id) => statSync(join(rootOf(workspace), "venvs/tiny/releases", id)).ino);
    /** Runs a command that loses the answer to an operation on a resource; it fails, and the state has that resource all the same. */
    const lose = async (operation: string, resource: string, command: () => ReturnType<Workspace["up"]>) => {
        dropping.drop(operation);
        const { code, output } = await command();
        assert.equal(code, 1, output);
        assert.match(output, new RegExp(`the connection was lost during ${operation}`));
        assert.ok(dropping.done, output);
        assert.ok((await workspace.resources())[resource], output);
    };
    const up = () => workspace.up();
    /** Asserts that the next `up` has nothing to do on the host, and nothing is left for the one after it. */
    const assertDone = async (answer: string) => {
        const [pid, releasesMade, since] = [server(workspace), made(), Date.now() / 1000];
        assert.equal(await completion(port), answer);
        expectExit(await workspace.up());
        assert.deepEqual([server(workspace), made(), stagesSince(workspace, since)], [pid, releasesMade, []]);
        expectExit(await workspace.pulumi("preview", "--expect-no-changes"));
    };

    before(async () => {
        workspace = await Workspace.make();
        dropping = new Dropping(workspace);
        port = await freePort();
        declare("Lyon.");
    });
    after(() => workspace.close());

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
            await lose(operation, resource, () => workspace.destroy(...target));
            expectExit(await workspace.destroy(...target));
            assert.equal((await workspace.resources())[resource], undefined);
        }
        assert.deepEqual([readdirSync(workspace.host), processesOf(workspace.host)], [[], []]);
    });
});

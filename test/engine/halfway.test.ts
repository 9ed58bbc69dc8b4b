import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import {
    answerDiff,
    completion,
    describeFleet,
    expectExit,
    freePort,
    processesOf,
    releases,
    Workspace,
} from "./harness";

/** A first up that fails in its middle: what is there is in the state. */
describe("a first up that fails half-way", () => {
    let workspace: Workspace;
    let port: number;
    const declare = (diff?: string) => describeFleet(workspace, { port, diff });
    const kept = async () =>
        Object.keys(await workspace.resources())
            .filter((name) => name.startsWith("here-"))
            .sort();

    before(async () => {
        workspace = await Workspace.make();
        port = await freePort();
    });
    after(() => workspace.close());

    const fail = async () => {
        declare(answerDiff("Nice.", "Rome."));
        const { output } = expectExit(await workspace.up(), 1);
        assert.match(output, /Venv here-tiny \*\*creating failed/);
        // The base and the layers are on the host, and their owners in the state; the service was never begun.
        assert.deepEqual(await kept(), ["here-chat-env", "here-tiny", "here-tiny-overlays", "here-tiny-patches"]);
        assert.deepEqual(releases(workspace), []);
    };

    it("is ended by the next up, which does the rest only", async () => {
        await fail();
        declare();
        const { changes } = await workspace.plan();
        assert.deepEqual(Object.fromEntries(Object.entries(changes).filter(([name]) => name.startsWith("here-"))), {
            "here-tiny-patches": "update",
            "here-tiny": "update",
            "here-chat": "create",
        });
        expectExit(await workspace.up());
        assert.equal(await completion(port), "Lyon.");
        expectExit(await workspace.destroy());
    });

    it("is taken back by destroy, which leaves the host clean", async () => {
        await fail();
        expectExit(await workspace.destroy());
        assert.deepEqual(readdirSync(workspace.host), []);
        assert.deepEqual(processesOf(workspace.host), []);
        assert.deepEqual(await kept(), []);
    });
});

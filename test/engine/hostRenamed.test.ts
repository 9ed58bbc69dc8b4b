import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { completion, describeFleet, expectExit, served, server } from "./harness";

/** Each test goes on where the one before ended. */
describe("a host that gets another name in the config", () => {
    const on = served();

    it("keeps what is on it, and restarts nothing", async () => {
        const pid = server(on.workspace);
        describeFleet(on.workspace, { port: on.port, host: "there" });
        const { output } = expectExit(await on.workspace.pulumi("up", "--yes"));
        assert.match(
            output.replaceAll(/\s+/g, " "),
            /service chat below \S+ is there already: it was made as \S+::here-chat, and is kept/,
        );
        assert.equal(server(on.workspace), pid);
        expectExit(await on.workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("keeps it also when its new name fails, in an up that goes on with the rest", async () => {
        const pid = server(on.workspace);
        describeFleet(on.workspace, { port: on.port, host: "third", module: "TEXT = (\n" });
        const { output } = expectExit(await on.workspace.pulumi("up", "--yes", "--continue-on-error"), 1);
        assert.match(
            output.replaceAll(/\s+/g, " "),
            /there\/service\/chat is not removed: \S+::third-chat takes its place, and has not been made/,
        );
        assert.equal(server(on.workspace), pid);
        assert.equal(await completion(on.port), "Lyon.");

        describeFleet(on.workspace, { port: on.port, host: "third" });
        expectExit(await on.workspace.pulumi("up", "--yes"));
        assert.equal(server(on.workspace), pid);
        expectExit(await on.workspace.pulumi("preview", "--expect-no-changes"));
    });
});

import assert from "node:assert/strict";
import { appendFileSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { completion, describeFleet, expectExit, processesOf, rootOf, served, server } from "./harness";

/** What stands beside a server that runs. Each test goes on where the one before ended. */
describe("a server that runs as declared", () => {
    const on = served();
    let pid: number;
    const program = (name: string) => join(rootOf(on.workspace), "services/chat", name);
    const runsOn = async () => assert.deepEqual([server(on.workspace), await completion(on.port)], [pid, "Lyon."]);

    before(() => {
        pid = server(on.workspace);
    });

    it("goes on while what starts it, edited or removed by hand, shows in the preview and is put right", async () => {
        const written = readFileSync(program("launcher.py"), "utf8");
        appendFileSync(program("launcher.py"), "# by hand\n");
        rmSync(program("keeper.py"));
        const { paths, messages } = await on.workspace.plan();
        assert.deepEqual(paths["here-chat"], ["unit"]);
        assert.match(
            messages.join("\n"),
            /changed without a restart: unit\n {2}on the host: keeper\.py missing; launcher\.py edited on the host/,
        );
        expectExit(await on.workspace.up());
        await runsOn();
        assert.equal(readFileSync(program("launcher.py"), "utf8"), written);
        expectExit(await on.workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("goes on while other checks alone are made by up, whether it passes them or not", async () => {
        describeFleet(on.workspace, { port: on.port, service: { checks: { assert: ["1 == 2"] } } });
        assert.deepEqual((await on.workspace.plan()).paths["here-chat"], ['gates["asserts"]']);
        const { output } = expectExit(await on.workspace.up(), 1);
        assert.match(output, /gate asserts: 1 == 2/);
        await runsOn();
        describeFleet(on.workspace, { port: on.port, service: { checks: { assert: ["1 == 1"] } } });
        expectExit(await on.workspace.up());
        await runsOn();
        expectExit(await on.workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("is found and ended by destroy though its root was removed under it", async () => {
        rmSync(rootOf(on.workspace), { recursive: true });
        const { output } = await on.workspace.pulumi("preview");
        assert.match(output, /runs, though its files are gone/);
        expectExit(await on.workspace.destroy());
        assert.deepEqual([readdirSync(on.workspace.host), processesOf(on.workspace.host)], [[], []]);
    });
});

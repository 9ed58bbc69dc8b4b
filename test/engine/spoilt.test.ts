import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { completion, describeFleet, expectExit, freePort, rootOf, server, Workspace } from "./harness";

/** Files of ours that somebody wrote over, on a host that serves. */
describe("a file of ours that is not as it was written", () => {
    let workspace: Workspace;
    let port: number;
    let pid: number;
    const path = (name: string) => join(rootOf(workspace), name);
    /** Writes over a file, previews another answer, puts the file back, and gives what the preview said. */
    const spoil = async (name: string, text: string): Promise<string> => {
        const kept = readFileSync(path(name));
        writeFileSync(path(name), text);
        describeFleet(workspace, { port, answer: "Nice." });
        const before = await workspace.resources();
        const { code, output } = await workspace.pulumi("preview");
        assert.equal(code, 1, output);
        assert.deepEqual(await workspace.resources(), before);
        assert.doesNotMatch(output, /unexpectedly|Traceback|report this/);
        writeFileSync(path(name), kept);
        return output;
    };

    before(async () => {
        workspace = await Workspace.make();
        port = await freePort();
        describeFleet(workspace, { port });
        expectExit(await workspace.up());
        pid = server(workspace);
    });
    after(() => workspace.close());

    const things: { name: string; text: string; says: RegExp }[] = [
        { name: "services/chat/env.json", text: "3", says: /what it holds is a number\n.*\n.*expected: a map/ },
        { name: "services/chat/current.json", text: '{"format": 1}', says: /`activated` in it is nothing/ },
        { name: "services/chat/spec.json", text: '{"format": 1, "argv": {}', says: /is not valid JSON/ },
        { name: "venvs/tiny/overlays.json", text: "[]", says: /what it holds is a list/ },
    ];
    for (const { name, text, says } of things) {
        it(`is an error that names it, and hides nothing else of its host: ${name}`, async () => {
            const output = await spoil(name, text);
            const said = output.slice(output.indexOf("sglang:index:GpuHost (here):\n    error: "));
            assert.match(said, says);
            assert.ok(said.includes(`where: ${path(name)}`), said);
            assert.match(said, /To mend it: restore this file; or remove it, and `up` makes anew what it was for/);
            assert.match(output, /SourcePatch here-tiny-patches update/);
        });
    }

    it("is an error of its host when it says what belongs to whom", async () => {
        const output = await spoil("claims.json", "[]");
        assert.match(
            output,
            /error: here \(local\): \S+claims\.json is not as it was written: what it holds is a list/,
        );
    });

    it("is no matter any more once it is as it was", async () => {
        describeFleet(workspace, { port });
        expectExit(await workspace.pulumi("preview", "--expect-no-changes"));
        assert.deepEqual([server(workspace), await completion(port)], [pid, "Lyon."]);
    });
});

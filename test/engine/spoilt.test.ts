import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { completion, describeFleet, expectExit, rootOf, served, server } from "./harness";

/** Files of ours that somebody wrote over, on a host that serves. */
describe("a file of ours that is not as it was written", () => {
    const on = served();
    let pid: number;
    const path = (name: string) => join(rootOf(on.workspace), name);
    /** Writes over a file, previews another answer, puts the file back, and gives what the preview said. */
    const spoil = async (name: string, text: string): Promise<string> => {
        const kept = readFileSync(path(name));
        writeFileSync(path(name), text);
        describeFleet(on.workspace, { port: on.port, answer: "Nice." });
        const before = await on.workspace.resources();
        const { code, output } = await on.workspace.pulumi("preview");
        assert.equal(code, 1, output);
        assert.deepEqual(await on.workspace.resources(), before);
        assert.doesNotMatch(output, /unexpectedly|Traceback|report this/);
        writeFileSync(path(name), kept);
        return output;
    };

    before(() => {
        pid = server(on.workspace);
    });

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
        describeFleet(on.workspace, { port: on.port });
        expectExit(await on.workspace.pulumi("preview", "--expect-no-changes"));
        assert.deepEqual([server(on.workspace), await completion(on.port)], [pid, "Lyon."]);
    });
});

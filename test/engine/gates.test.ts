import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
    answerDiff,
    answerModule,
    Client,
    completion,
    describeFleet,
    expectExit,
    freePort,
    server,
    type Wishes,
    Workspace,
} from "./harness";

/** What no gate may let through, and what its message must name. */
const refused: { what: string; wishes: Omit<Wishes, "port">; says: RegExp[] }[] = [
    {
        what: "a patch whose module does not import",
        wishes: { module: answerModule("Nice.", "import nowhere_to_be_found") },
        says: [/nowhere_to_be_found/, /sglang\/srt\/answer\.py:2/],
    },
    {
        what: "a patch with a syntax error",
        wishes: { module: "TEXT = (\n" },
        says: [/sglang\/srt\/answer\.py/, /SyntaxError|never closed|syntax/],
    },
    {
        what: "a diff that does not apply",
        wishes: { diff: answerDiff("Nice.", "Rome.") },
        says: [/sglang\/srt\/answer\.py|answer\.diff/, /does not apply/],
    },
    {
        what: "a missing dependency",
        wishes: { requirements: ["sglang==0.5.23+standin"] },
        says: [/pybase64/],
    },
    {
        what: "a flag that the candidate does not know",
        wishes: { service: { flags: { "tp-sise": 1 } } },
        says: [/tp-sise/, /tp-size/],
    },
    {
        what: "an assertion that does not hold",
        wishes: { answer: "Nice.", service: { checks: { assert: ["1 + 1 == 3"] } } },
        says: [/1 \+ 1 == 3/],
    },
];

describe("a gate that fails names the cause, and leaves the running server and what the stack says of it alone", () => {
    let workspace: Workspace;
    let port: number;
    let pid: number;
    let outputs: Record<string, unknown>;

    before(async () => {
        workspace = await Workspace.make();
        port = await freePort();
        describeFleet(workspace, { port, module: answerModule("Nice.", "import nowhere_to_be_found") });
        assert.notEqual((await workspace.up()).code, 0);
        assert.deepEqual((await workspace.stackOutputs()).endpoints, { here: {} });
        describeFleet(workspace, { port });
        expectExit(await workspace.up());
        pid = server(workspace);
        outputs = await workspace.stackOutputs();
    });
    after(() => workspace.close());

    for (const { what, wishes, says } of refused) {
        it(what, async () => {
            const client = new Client(port);
            describeFleet(workspace, { port, ...wishes });
            const outcome = await workspace.up();
            assert.deepEqual(await client.stop(), []);
            assert.notEqual(outcome.code, 0, outcome.output);
            for (const pattern of says) {
                assert.match(outcome.output, pattern);
            }
            assert.equal(server(workspace), pid);
            assert.doesNotMatch(outcome.output, /unknown/);
            assert.deepEqual(await workspace.stackOutputs(), outputs);
        });
    }

    it("and a preview says so before it is tried again", async () => {
        const { output } = expectExit(await workspace.pulumi("preview"));
        assert.match(output, /the last candidate \(this release, .* UTC\) failed in gate asserts: 1 \+ 1 == 3/);
    });

    it("and the old config needs no change of the server afterwards", async () => {
        describeFleet(workspace, { port });
        expectExit(await workspace.up());
        assert.equal(server(workspace), pid);
        assert.equal(await completion(port), "Lyon.");
        expectExit(await workspace.pulumi("preview", "--expect-no-changes"));
    });
});

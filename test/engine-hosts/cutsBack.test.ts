import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { answerModule, expectExit } from "../engine/harness";
import { whyNoHosts } from "../hosts/testHost";
import { Killed, slow } from "./harness";

const skip = whyNoHosts();

/** Stages on the way back from a release that never becomes ready, and whether the shared connection is killed as well. */
const stages: [stage: string, master: boolean][] = [
    ["back-stop", false],
    ["back-restore", true],
    ["back-start", false],
    ["back-wait", true],
    ["back-prove", false],
    ["back-undo", true],
];

describe("pulumi, the provider and ssh killed on the way back of an activation", { skip }, () => {
    const on = new Killed();
    const never = answerModule("Never.", 'os.environ["STANDIN_NEVER_READY"] = "1"');
    const service = { ...slow.service, ready: { timeout: "3s", stable: "1s" } };
    let turn = 0;

    for (const [stage, master] of stages) {
        it(`in stage ${stage}: the host ends old, and the next up converges`, async () => {
            assert.equal(await on.cutIn(stage, master, { ...slow, service, module: never }, "Never."), "old");
            await on.converges(`Nice ${turn++}.`);
        });
    }

    it("and preview then has no change", async () => {
        expectExit(await on.stand.workspace.pulumi("preview", "--expect-no-changes"));
    });
});

import { describe, it } from "node:test";
import { expectExit } from "../engine/harness";
import { whyNoHosts } from "../hosts/testHost";
import { Killed, slow } from "./harness";

const skip = whyNoHosts();

/** Stages on the way forward, and whether the shared connection is killed as well. */
const stages: [stage: string, master: boolean][] = [
    ["preflight", false],
    ["save", true],
    ["drain", false],
    ["stop", true],
    ["switch", false],
    ["start", true],
    ["wait", false],
    ["wait", true],
    ["stable", false],
    ["prove", true],
    ["commit", false],
];

describe("pulumi, the provider and ssh killed in the middle of an activation", { skip }, () => {
    const on = new Killed();
    let turn = 0;

    for (const [stage, master] of stages) {
        const what = master ? "with the shared connection" : "without the shared connection";
        it(`in stage ${stage}, ${what}: the host ends old or new, and the next up converges`, async (t) => {
            const wished = `Nice ${turn++}.`;
            t.diagnostic(await on.cutIn(stage, master, { ...slow, answer: wished }, wished));
            await on.converges(wished);
        });
    }

    it("and preview then has no change", async () => {
        expectExit(await on.stand.workspace.pulumi("preview", "--expect-no-changes"));
    });
});

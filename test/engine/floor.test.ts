import assert from "node:assert/strict";
import { availableParallelism, loadavg } from "node:os";
import { after, before, describe, it } from "node:test";
import { describeFleet, expectExit, freePort, Workspace } from "./harness";

/** What a look at one host may cost a no-change preview, beyond what the engine and the program cost anyway; seconds. */
const ALLOWED = 1.2;
const ROUNDS = 3;

describe("a no-change preview", () => {
    let workspace: Workspace;

    before(async () => {
        workspace = await Workspace.make();
        describeFleet(workspace, { port: await freePort() });
        expectExit(await workspace.up());
    });
    after(() => workspace.close());

    it(`takes at most ${ALLOWED} s longer than with a provider that answers without looking`, async (test) => {
        const [real, floor]: [number[], number[]] = [[], []];
        for (let round = 0; round < ROUNDS; round++) {
            // In turns, so that what else the machine does weighs on both.
            real.push(await seconds(workspace, "provider"));
            floor.push(await seconds(workspace, "test/engine/floor"));
        }
        const extra = Math.min(...real) - Math.min(...floor);
        const figures = `looking ${real.map(short)}, not looking ${floor.map(short)}: ${short(extra)} s`;
        test.diagnostic(figures);
        if (loadavg()[0] > availableParallelism()) {
            test.skip(`the machine is too busy to time anything: load ${short(loadavg()[0])}`);
            return;
        }
        assert.ok(extra <= ALLOWED, figures);
    });
});

async function seconds(workspace: Workspace, provider: string): Promise<number> {
    workspace.provider(provider);
    return expectExit(await workspace.pulumi("preview", "--expect-no-changes")).seconds;
}

const short = (value: number): string => value.toFixed(2);

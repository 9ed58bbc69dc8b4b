import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { expectExit } from "../engine/harness";
import { whyNoHosts } from "../hosts/testHost";
import { activation, begun, HostStand, oldOrNew, server, settled, slow, slowReloads } from "./harness";

const skip = whyNoHosts();

describe("a host that loses its power in the middle of an activation", { skip }, () => {
    let stand: HostStand;
    let answer = "Lyon.";

    before(async () => {
        stand = await HostStand.up({ one: {} }, { uv: true });
        await slowReloads(stand.host("one"));
        stand.describe(slow);
        expectExit(await stand.workspace.up());
    });
    after(() => stand?.down());

    for (const stage of ["switch", "wait", "back-start"]) {
        it(`in stage ${stage}: after the boot old or new serves, preview says so, and up converges`, async (t) => {
            const host = stand.host("one");
            const wished = `Nice after ${stage}.`;
            const never = { env: { STANDIN_NEVER_READY: "1" }, ready: { timeout: "3s", stable: "1s" } };
            const differs: Record<string, Record<string, unknown>> = stage.startsWith("back") ? { one: never } : {};
            stand.describe({ ...slow, answer: wished }, differs);
            const earlier = (await activation(host))?.id ?? null;
            const up = stand.workspace.start("up", "--yes", "--skip-preview");
            assert.ok(await begun(host, stage, earlier), stage);
            await host.reboot({ hard: true });
            const outcome = await up.ended;
            assert.equal(outcome.code, 1, outcome.output);

            const found = await settled(host, 90);
            const ended = oldOrNew(found, answer, wished);
            t.diagnostic(`${ended}: ${found.activation.state} in ${found.activation.stage}`);
            stand.describe({ ...slow, answer: wished });
            const { changes } = await stand.workspace.plan();
            assert.equal(changes["one-chat"], ended === "old" ? "update" : undefined);
            expectExit(await stand.workspace.up());
            assert.equal(await stand.completion("one"), wished);
            await server(host);
            expectExit(await stand.workspace.pulumi("preview", "--expect-no-changes"));
            answer = wished;
        });
    }
});

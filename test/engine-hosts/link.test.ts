import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { expectExit, type Outcome } from "../engine/harness";
import { whyNoHosts } from "../hosts/testHost";
import { activation, begun, HostStand, oldOrNew, type Stand, server, settled, slow, slowReloads } from "./harness";

const skip = whyNoHosts();

/** Seconds within which a host must have ended by itself. */
const DEADLINE = 90;

/** Stages in which the link of a host is cut. One stack has a host for each, and one `up` meets all the cuts. */
const forward = ["save", "drain", "stop", "switch", "wait", "stable"];
const back = ["back-stop", "back-wait"];
const stages = [...forward, ...back];

describe("the link cut in the middle of an activation", { skip }, () => {
    let stand: HostStand;
    let outcome: Outcome;
    let found: Record<string, Stand>;

    before(async () => {
        stand = await HostStand.up(Object.fromEntries(stages.map((stage) => [stage, {}])), { uv: true });
        await Promise.all(Object.values(stand.hosts).map(slowReloads));
        stand.describe(slow);
        expectExit(await stand.workspace.up());
    });
    after(() => stand?.down());

    it("ends the command with an error for each host, within the time that a dead link may take", async () => {
        const never = { env: { STANDIN_NEVER_READY: "1" }, ready: { timeout: "3s", stable: "1s" } };
        stand.describe({ ...slow, answer: "Nice." }, Object.fromEntries(back.map((stage) => [stage, never])));
        const up = stand.workspace.start("up", "--yes", "--skip-preview");
        const cut = stages.map(async (stage) => {
            const host = stand.host(stage);
            assert.ok(await begun(host, stage, (await activation(host))?.id ?? null, { seconds: 300 }), stage);
            await host.cutLink();
            return performance.now();
        });
        const last = Math.max(...(await Promise.all(cut)));
        outcome = await up.ended;
        assert.equal(outcome.code, 1, outcome.output);
        for (const stage of stages) {
            assert.match(outcome.output, new RegExp(`SglangService ${stage}-chat \\*\\*updating failed\\*\\*`));
        }
        assert.ok(performance.now() - last < 60_000, `${performance.now() - last} ms after the last cut`);
    });

    for (const stage of stages) {
        it(`in stage ${stage}: the host ends old or new`, async (t) => {
            const one = await settled(stand.host(stage), DEADLINE);
            const ended = oldOrNew(one, "Lyon.", "Nice.");
            t.diagnostic(`${ended}: ${one.activation.state} in ${one.activation.stage}`);
            assert.equal(ended === "old" || !back.includes(stage), true, "what never serves is not kept");
            found = { ...found, [stage]: one };
        });
    }

    it("once the links are back, preview shows who is old, and up converges all", async () => {
        await Promise.all(Object.values(stand.hosts).map((host) => host.restoreLink()));
        stand.describe({ ...slow, answer: "Nice." });
        const { changes } = await stand.workspace.plan();
        const old = stages.filter((stage) => found[stage]?.activation.state !== "committed");
        for (const stage of old) {
            assert.equal(changes[`${stage}-chat`], "update", stage);
        }
        expectExit(await stand.workspace.up());
        for (const stage of stages) {
            assert.equal(await stand.completion(stage), "Nice.", stage);
            await server(stand.host(stage));
        }
        expectExit(await stand.workspace.pulumi("preview", "--expect-no-changes"));
    });
});

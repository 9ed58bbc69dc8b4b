import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { expectExit } from "../engine/harness";
import { whyNoHosts } from "../hosts/testHost";
import { activation, begun, HostStand, oldOrNew, server, settled, slow, slowReloads } from "./harness";

const skip = whyNoHosts();

/** The hosts, by the stage in which each loses its power. */
const stages = { "at-switch": "switch", "at-wait": "wait", "at-back": "back-start" };
const names = Object.keys(stages);
const [old, wished] = ["Lyon.", "Nice after the boot."];

describe("hosts that lose their power in the middle of an activation", { skip }, () => {
    let stand: HostStand;
    const each = (act: (name: string) => Promise<unknown>) => Promise.all(names.map(act));
    const ended: Record<string, "old" | "new"> = {};

    before(async () => {
        stand = await HostStand.up(Object.fromEntries(names.map((name) => [name, {}])), { uv: true });
        await each((name) => slowReloads(stand.host(name)));
        stand.describe({ ...slow, answer: old });
        expectExit(await stand.workspace.up());
        const never = { env: { STANDIN_NEVER_READY: "1" }, ready: { timeout: "3s", stable: "1s" } };
        stand.describe({ ...slow, answer: wished }, { "at-back": never });
        const earlier = Object.fromEntries(
            await Promise.all(names.map(async (name) => [name, (await activation(stand.host(name)))?.id ?? null])),
        );
        const up = stand.workspace.start("up", "--yes", "--skip-preview");
        await Promise.all(
            Object.entries(stages).map(async ([name, stage]) => {
                assert.ok(await begun(stand.host(name), stage, earlier[name]), stage);
                await stand.host(name).reboot({ hard: true });
            }),
        );
        const outcome = await up.ended;
        assert.equal(outcome.code, 1, outcome.output);
    });
    after(() => stand?.down());

    for (const [name, stage] of Object.entries(stages)) {
        it(`in stage ${stage}: after the boot old or new serves`, async (t) => {
            const found = await settled(stand.host(name), 90);
            ended[name] = oldOrNew(found, old, wished);
            t.diagnostic(`${ended[name]}: ${found.activation.state} in ${found.activation.stage}`);
        });
    }

    it("say in the preview how they stand, and the next up converges", async () => {
        stand.describe({ ...slow, answer: wished });
        const { changes } = await stand.workspace.plan();
        for (const name of names) {
            assert.equal(changes[`${name}-chat`], ended[name] === "old" ? "update" : undefined, name);
        }
        expectExit(await stand.workspace.up());
        await each(async (name) => {
            assert.equal(await stand.completion(name), wished);
            await server(stand.host(name));
        });
        expectExit(await stand.workspace.pulumi("preview", "--expect-no-changes"));
    });
});

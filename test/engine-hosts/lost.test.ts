import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { expectExit } from "../engine/harness";
import { whyNoHosts } from "../hosts/testHost";
import { LosableHosts } from "./lost";

const skip = whyNoHosts();

/** One stack of hosts, each of which is lost in another way, and one that stays. Each test goes on where the one before ended. */
describe("hosts that cannot be looked at", { skip }, () => {
    let hosts: LosableHosts;
    let kept: Record<string, unknown>;

    /** The resources of the lost hosts in the exported state, without what the engine itself writes anew: time stamps, and how a secret is encrypted. */
    const ofLost = async () =>
        Object.fromEntries(
            Object.entries(await hosts.workspace.resources())
                .filter(([name]) => hosts.ways.some((way) => name === `${way.name}-v`))
                .map(([name, { urn, id, inputs, outputs }]) => [name, unsealed({ urn, id, inputs, outputs })]),
        );

    before(async () => {
        hosts = await LosableHosts.up();
        hosts.declare(2);
        expectExit(await hosts.workspace.up());
        kept = await ofLost();
        assert.equal(Object.keys(kept).length, hosts.ways.length);
        await hosts.lose();
    });
    after(() => hosts?.down());

    /** Asserts that each lost host has its cause and remedy below its own heading in an output. */
    const assertSaid = (output: string) => {
        const blocks = output.split(/\n {2}(?=(?:sglang|pulumi):)/);
        for (const { name, says } of hosts.ways) {
            const block = blocks.find((one) => one.startsWith(`sglang:index:GpuHost (${name}):\n    error: `));
            assert.ok(block, `${name} is not told of:\n${output}`);
            assert.match(block, says, name);
            assert.match(block, /To mend it: /, name);
        }
    };

    it("are errors with cause and remedy in a preview, which still shows what changes on the other one, in bounded time", async () => {
        hosts.declare(4);
        const { code, output, seconds } = await hosts.workspace.pulumi("preview");
        assertSaid(output);
        assert.match(output, /sglang:index:Venv here-v update/);
        assert.equal(code, 1, output);
        assert.ok(seconds < 45, `${seconds} s`);
    });

    it("keep their state when the config changes them and the other one is changed", async () => {
        const { code, output } = await hosts.workspace.up();
        assert.equal(code, 1, output);
        assert.match(output, /Venv here-v updated/);
        assertSaid(output);
        assert.deepEqual(await ofLost(), kept);
        assert.equal((await hosts.workspace.resources())["here-v"]?.outputs.keep, 4);
    });

    it("keep their state in a refresh, which fails", async () => {
        const { code, output } = await hosts.workspace.pulumi("refresh", "--yes", "--skip-preview");
        assert.equal(code, 1, output);
        assert.deepEqual(await ofLost(), kept);
    });

    it("keep their state in a refresh of one alone, which says why", async () => {
        for (const { name, says } of hosts.ways.filter(({ name }) =>
            /^(off|denied|sudoless|half|bad-disk)$/.test(name),
        )) {
            const target = ["--target", `**::${name}-v`];
            const { code, output } = await hosts.workspace.pulumi("refresh", "--yes", "--skip-preview", ...target);
            assert.equal(code, 1, output);
            assert.match(output, says);
        }
        assert.deepEqual(await ofLost(), kept);
    });

    it("keep their state when they are to be destroyed, and are told how to be given up", async () => {
        const { code, output } = await hosts.workspace.destroy();
        assert.equal(code, 1, output);
        assert.deepEqual(await ofLost(), kept);
        for (const { name } of hosts.ways) {
            assert.match(output, new RegExp(`SGLANG_FLEET_ABANDON=${name} pulumi`));
        }
        assert.equal((await hosts.workspace.resources())["here-v"], undefined);
        assert.equal(await hosts.has("/srv/here"), false);
    });

    it("leave the state when they are given up by name, and nothing is done on them", async () => {
        hosts.workspace.set({ SGLANG_FLEET_ABANDON: hosts.ways.map(({ name }) => name).join(",") });
        expectExit(await hosts.workspace.destroy());
        assert.deepEqual(await hosts.workspace.resources(), {});
        assert.equal(await hosts.has("/srv/denied/venvs/v"), true);
    });
});

/** With each ciphertext replaced, as no two of one secret are equal. */
function unsealed(value: object): unknown {
    return JSON.parse(JSON.stringify(value, (key, one) => (key === "ciphertext" ? "(sealed)" : one)));
}

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bench, checked, created, eachTest, env } from "./fixture";
import { refused, urn } from "./harness";

eachTest();

const OLD = "urn:pulumi:test::fleet::sglang:index:EnvVars::before";

/** The environment stands on the host, and these claim it. */
async function claimedBy(owner: string, by: string): Promise<void> {
    await created("EnvVars", env);
    bench.host.facts.claims["env/s"] = { owner, urn: by, since: 1_800_000_000 };
    bench.host.calls.length = 0;
}

describe("a thing that is there already", () => {
    test("of another stack is refused before anything is done, in the preview as well", async () => {
        await claimedBy("o-other", OLD);
        const inputs = await checked("EnvVars", env);
        for (const preview of [true, false]) {
            assert.equal(
                (await refused(bench.provider.create("EnvVars", inputs, { preview }))).message,
                `here: env s below /srv/fleet belongs to ${OLD}\n  found: claimed since 2027-01-15T08:00:00.000Z\n  expected: ${urn("EnvVars")}\nTo mend it: choose another name or root, or set \`takeOver: true\` if that stack is to lose it`,
            );
        }
        assert.deepEqual(bench.host.calls, []);
    });

    test("of another stack is taken over when that is declared", async () => {
        await claimedBy("o-other", OLD);
        const inputs = await checked("EnvVars", { ...env, takeOver: true });
        await bench.provider.create("EnvVars", inputs, { preview: true });
        assert.match(bench.provider.engine.kept.join("\n"), /is taken over from urn:\S+::before, as `takeOver` says/);
        await bench.provider.create("EnvVars", inputs);
        assert.equal((bench.host.calls[0]?.args.claim as { takeOver?: boolean } | undefined)?.takeOver, true);
    });

    test("of this stack under a name that left the program is kept, and said", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        await claimedBy(state.owner as string, OLD);
        await bench.provider.read("EnvVars", id, state, inputs, OLD);
        await bench.provider.create("EnvVars", inputs, { preview: true });
        assert.match(
            bench.provider.engine.kept.join("\n"),
            /is there already: it was made as urn:\S+::before, and is kept as it is/,
        );
        await bench.provider.create("EnvVars", inputs);
        assert.equal(bench.host.calls.length, 1);
    });

    test("of this stack under a name that the program still has is refused", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        await claimedBy(state.owner as string, OLD);
        await bench.provider.read("EnvVars", id, state, inputs, OLD);
        await bench.provider.check("EnvVars", env, inputs, OLD);
        assert.match((await refused(bench.provider.create("EnvVars", inputs))).message, /belongs to urn:\S+::before/);
    });

    test("under the very same name is taken over, for the state of its create was lost", async () => {
        await claimedBy("o-lost", urn("EnvVars"));
        await bench.provider.create("EnvVars", await checked("EnvVars", env), { preview: true });
        assert.match(
            bench.provider.engine.kept.join("\n"),
            /a create whose state was lost, or a stack of the same name/,
        );
        await bench.provider.create("EnvVars", await checked("EnvVars", env));
        assert.equal(bench.host.calls.length, 1);
    });

    test("is replaced by its own resource, under whatever name it was claimed", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        await claimedBy(state.owner as string, OLD);
        await bench.provider.read("EnvVars", id, state, inputs);
        await checked("EnvVars", env);
        await bench.provider.create("EnvVars", inputs);
        assert.equal(bench.host.calls.length, 1);
    });

    test("is not removed under its old name while the new one could not be made", async () => {
        const AFTER = "urn:pulumi:test::fleet::sglang:index:EnvVars::after";
        const { id, state, inputs } = await created("EnvVars", env);
        bench.host.facts.claims["env/s"] = { owner: state.owner as string, urn: urn("EnvVars"), since: 1_800_000_000 };
        bench.host.calls.length = 0;
        await bench.provider.check("EnvVars", env, {}, AFTER);
        assert.equal(
            (await refused(bench.provider.delete("EnvVars", id, state, inputs))).message,
            `here: here/env/s is not removed: ${AFTER} takes its place, and has not been made\nTo mend it: see why that failed, and run \`pulumi up\` again`,
        );
        assert.deepEqual(bench.host.calls, []);
        bench.host.facts.claims["env/s"] = { owner: "o-after", urn: AFTER, since: 1_800_000_000 };
        await bench.provider.delete("EnvVars", id, state, inputs);
    });

    test("is not removed under the old name of its host either", async () => {
        const AFTER = "urn:pulumi:test::fleet::sglang:index:EnvVars::after";
        const { id, state, inputs } = await created("EnvVars", env);
        bench.host.facts.claims["env/s"] = { owner: state.owner as string, urn: urn("EnvVars"), since: 1_800_000_000 };
        await bench.provider.read("EnvVars", id, state, inputs);
        const { inputs: renamed } = await bench.provider.check(
            "EnvVars",
            { ...env, connection: { name: "there" } },
            {},
            AFTER,
        );
        await bench.provider.create("EnvVars", renamed, { preview: true });
        assert.match(
            (await refused(bench.provider.delete("EnvVars", id, state, inputs))).message,
            /^here: here\/env\/s is not removed: .*::after takes its place, and has not been made$/m,
        );
    });
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bench, checked, created, eachTest, env } from "./fixture";
import { refused, urn } from "./harness";

eachTest();

describe("the life of an environment", () => {
    test("a preview writes nothing, a create stages, and each answer asks to be read before the next change", async () => {
        const inputs = await checked("EnvVars", env);
        const planned = await bench.provider.create("EnvVars", inputs, { preview: true });
        assert.equal(planned.refresh, true);
        assert.deepEqual(bench.host.calls, []);

        const { id, state, refresh } = await bench.provider.create("EnvVars", inputs);
        assert.equal(id, "here/env/s");
        assert.equal(refresh, true);
        assert.match(String(state.owner), /^[0-9a-f]{16}$/);
        assert.deepEqual({ ...state, owner: "" }, planned.state);
        const claim = { kind: "env", name: "s", owner: state.owner, urn: urn("EnvVars") };
        assert.deepEqual(bench.host.calls, [
            {
                op: "env.stage",
                args: {
                    ...{ root: "/srv/fleet", claim, service: "s" },
                    ...{ id: inputs.digest, variables: env.variables, salt: inputs.salt },
                },
            },
        ]);

        const read = await bench.provider.read("EnvVars", id, state, inputs);
        assert.deepEqual(read, { id, state, inputs, refresh: true });
        assert.deepEqual((await bench.provider.diff("EnvVars", read.state, inputs, inputs)).paths, {});
    });

    test("config and drift show by variable, old = what is on the host", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        bench.host.facts.envs.s.variables = { A: "by hand", B: "b", OLD_TOKEN: "secret of somebody" };
        const live = (await bench.provider.read("EnvVars", id, state, inputs)).state;
        assert.deepEqual(live.variables, { A: "by hand", B: "b", OLD_TOKEN: "(set, not managed)" });
        const news = await checked("EnvVars", { ...env, variables: { A: "1", C: "c" } }, inputs);
        const { paths, some } = await bench.provider.diff("EnvVars", live, inputs, news);
        assert.deepEqual(paths, {
            'variables["A"]': "UPDATE",
            'variables["B"]': "DELETE",
            'variables["C"]': "ADD",
            'variables["OLD_TOKEN"]': "DELETE",
        });
        assert.equal(some, true);
    });

    test("drift on a path that ignoreChanges names is ignored", async () => {
        const { state, inputs } = await created("EnvVars", { ...env, variables: { A: "1", B: "b" } });
        const live = { ...state, variables: { A: "x", B: "y" } };
        assert.deepEqual((await bench.provider.diff("EnvVars", live, inputs, inputs, ['variables["A"]'])).paths, {
            'variables["B"]': "UPDATE",
        });
        assert.deepEqual((await bench.provider.diff("EnvVars", live, inputs, inputs, ["variables"])).paths, {});
        assert.deepEqual((await bench.provider.diff("EnvVars", live, inputs, inputs, ["variables.*"])).paths, {});
    });

    test("another way to the same host changes nothing, another root is another thing", async () => {
        const { state, inputs } = await created("EnvVars", env);
        const rotated = await checked(
            "EnvVars",
            { ...env, connection: { name: "here", host: "10.0.0.2", identityFile: "k2" } },
            inputs,
        );
        assert.deepEqual((await bench.provider.diff("EnvVars", state, inputs, rotated)).paths, {});
        const moved = await checked("EnvVars", { ...env, root: "/opt/fleet" }, inputs);
        const { paths, replaces, before } = await bench.provider.diff("EnvVars", state, inputs, moved);
        assert.deepEqual(
            { paths, replaces, before },
            { paths: { root: "UPDATE_REPLACE" }, replaces: ["root"], before: false },
        );
    });

    test("what is not there any more by the host's own word is gone, what belongs to another too", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        bench.host.facts.envs.s.owner = "somebody else";
        assert.equal((await bench.provider.read("EnvVars", id, state, inputs)).id, "");
        bench.host.facts.envs = {};
        assert.equal((await bench.provider.read("EnvVars", id, state, inputs)).id, "");
    });

    test("a state of an older version, without what has a default since, is read as ever", async () => {
        const { id, state } = await created("EnvVars", env);
        const read = await bench.provider.read("EnvVars", id, state, { ...env, connection: { name: "here" } });
        assert.equal(read.id, id);
        assert.equal(bench.connections.at(-1)?.connectTimeout, 15);
    });

    test("delete finds the host by the inputs", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        await bench.provider.delete("EnvVars", id, state, inputs);
        const { op, args } = bench.host.calls[1];
        assert.deepEqual(
            [op, args],
            [
                "env.remove",
                { root: "/srv/fleet", claim: { kind: "env", name: "s", owner: state.owner, urn: urn("EnvVars") } },
            ],
        );
    });

    test("an import without an inventory says what it needs", async () => {
        const { message } = await refused(bench.provider.read("EnvVars", "here/env/s"));
        assert.equal(
            message,
            'here/env/s: how here is reached is not known\nTo mend it: set SGLANG_FLEET_INVENTORY to a JSON file like {"here": {"connection": {"host": "10.0.0.1", "user": "root"}, "root": "/opt/sglang-fleet"}}.',
        );
    });
});

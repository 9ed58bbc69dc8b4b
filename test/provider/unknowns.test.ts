import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bench, checked, created, eachTest, env } from "./fixture";
import { UNKNOWN } from "./harness";

eachTest();

describe("what is not known yet", () => {
    test("an unknown address contacts nobody and says so", async () => {
        const inputs = await checked("EnvVars", { ...env, connection: { name: "here", host: UNKNOWN } });
        assert.deepEqual((await bench.provider.create("EnvVars", inputs, { preview: true })).state, {});
        assert.deepEqual(bench.provider.engine.kept, ["Planned after the host is known: connection.host."]);
        assert.equal(bench.host.looks, 0);
    });

    test("one unknown value is an update of that value, never a replacement", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        const news = await checked("EnvVars", { ...env, variables: { A: UNKNOWN, B: "c" } }, inputs);
        const { paths, replaces } = await bench.provider.diff("EnvVars", state, inputs, news);
        assert.deepEqual(paths, { 'variables["B"]': "UPDATE", 'variables["A"]': "UPDATE", digest: "UPDATE" });
        assert.deepEqual(replaces, []);
        assert.deepEqual(
            (await bench.provider.update("EnvVars", id, state, inputs, news, { preview: true })).state,
            {},
        );
        const nowhere = await checked("EnvVars", { ...env, root: UNKNOWN }, inputs);
        assert.deepEqual((await bench.provider.diff("EnvVars", state, inputs, nowhere)).replaces, []);
    });
});

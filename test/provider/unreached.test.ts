import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { unreachable } from "./fakeHost";
import { bench, checked, created, eachTest, env } from "./fixture";
import { refused } from "./harness";

eachTest();

describe("a host that cannot be reached", () => {
    test("keeps its state, differs in nothing, is looked for once, and is named when the program asks", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        bench.host.away = unreachable();
        bench.host.looks = 0;
        for (let at = 0; at < 3; at++) {
            const read = await bench.provider.read("EnvVars", id, state, inputs);
            assert.deepEqual(read, { id, state, inputs, refresh: true });
        }
        assert.equal(bench.host.looks, 1);
        assert.deepEqual(bench.provider.engine.kept, [
            "here: connection refused\nNot looked at: its resources are shown as they were last seen.",
        ]);
        const stale = { ...state, variables: {} };
        assert.equal((await bench.provider.diff("EnvVars", stale, inputs, inputs)).some, false);
        assert.deepEqual(await bench.provider.unreached(), [
            { host: "here", message: "here: connection refused\nTo mend it: start sshd there" },
        ]);
    });

    test("lets a preview of a config change pass, and refuses the change itself", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        bench.host.away = unreachable();
        await bench.provider.read("EnvVars", id, state, inputs);
        const news = await checked("EnvVars", { ...env, variables: { A: "2" } }, inputs);
        assert.equal((await bench.provider.diff("EnvVars", state, inputs, news)).some, true);
        assert.deepEqual(
            (await bench.provider.update("EnvVars", id, state, inputs, news, { preview: true })).state,
            state,
        );
        const { message, left } = await refused(bench.provider.update("EnvVars", id, state, inputs, news));
        assert.equal(message, "here: connection refused\nTo mend it: start sshd there");
        assert.equal(left, undefined);
        assert.equal((await bench.provider.create("EnvVars", inputs, { preview: true })).id, "");
    });

    test("of which one thing cannot be read keeps that as it was, and shows the rest", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        const report = { code: "corrupt", message: "/srv/fleet/services/s/env.json is spoilt", remedy: "restore it" };
        bench.host.facts.envs = {};
        bench.host.facts.unreadable = { "env/s": report };
        assert.deepEqual(await bench.provider.read("EnvVars", id, state, inputs), { id, state, inputs, refresh: true });
        assert.deepEqual(bench.provider.engine.kept, [
            "here: /srv/fleet/services/s/env.json is spoilt\nIt is shown as it was last seen.",
        ]);
        const other = { ...inputs, service: "t" };
        assert.equal((await bench.provider.read("EnvVars", "here/env/t", state, other)).id, "");
        assert.deepEqual(await bench.provider.unreached(), [
            { host: "here", message: "here: /srv/fleet/services/s/env.json is spoilt\nTo mend it: restore it" },
        ]);
    });

    test("is given up only when the user names it", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        bench.host.away = unreachable();
        const { message } = await refused(bench.provider.delete("EnvVars", id, state, inputs));
        assert.equal(
            message,
            "here: connection refused\nTo mend it: start sshd there\nIf here is gone for good: SGLANG_FLEET_ABANDON=here pulumi destroy",
        );
        process.env.SGLANG_FLEET_ABANDON = "there,here";
        try {
            await bench.provider.delete("EnvVars", id, state, inputs);
        } finally {
            delete process.env.SGLANG_FLEET_ABANDON;
        }
    });

    test("another machine at the same address is said, and not taken for the loss of what the first one has", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        bench.host.facts.machine.machineId = "m-2";
        bench.host.facts.envs = {};
        assert.deepEqual(await bench.provider.read("EnvVars", id, state, inputs), { id, state, inputs, refresh: true });
        const said =
            "here: another machine answers there\n  found: machine id m-2 (here)\n  expected: m-1\nTo mend it: correct the address; or, if the first machine is gone for good, SGLANG_FLEET_ABANDON=here pulumi up makes everything anew on this one";
        assert.deepEqual(await bench.provider.unreached(), [{ host: "here", message: said }]);
        const news = await checked("EnvVars", { ...env, variables: { A: "2" } }, inputs);
        const calls = bench.host.calls.length;
        assert.equal((await refused(bench.provider.update("EnvVars", id, state, inputs, news))).message, said);
        assert.equal(
            (await refused(bench.provider.delete("EnvVars", id, state, inputs))).message,
            `${said}\nIf here is gone for good: SGLANG_FLEET_ABANDON=here pulumi destroy`,
        );
        assert.equal(bench.host.calls.length, calls);
    });

    test("another machine is used once the first one is given up", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        bench.host.facts.machine.machineId = "m-2";
        bench.host.facts.envs = {};
        process.env.SGLANG_FLEET_ABANDON = "here";
        try {
            assert.equal((await bench.provider.read("EnvVars", id, state, inputs)).id, "");
        } finally {
            delete process.env.SGLANG_FLEET_ABANDON;
        }
    });

    test("a machine with a new id that still has our things is the same one", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        bench.host.facts.machine.machineId = "m-2";
        const read = await bench.provider.read("EnvVars", id, state, inputs);
        assert.deepEqual(read.state, { ...state, machine: "m-2" });
        const news = await checked("EnvVars", { ...env, variables: { A: "2" } }, inputs);
        assert.deepEqual((await bench.provider.update("EnvVars", id, state, inputs, news)).state.machine, "m-2");
    });

    test("that is there under two names of the program is said, by machine, host key and folder", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        await bench.provider.read("EnvVars", id, state, inputs);
        assert.deepEqual(await bench.provider.unreached(), []);
        const twin = { ...inputs, connection: { ...(inputs.connection as object), name: "there" } };
        await bench.provider.read("EnvVars", "there/env/s", state, twin);
        assert.deepEqual(await bench.provider.unreached(), []);
        await checked("EnvVars", { ...env, connection: { name: "there" } });
        assert.deepEqual(await bench.provider.unreached(), [
            {
                host: "there",
                message:
                    "here: is the same machine and root as here\n  where: /srv/fleet\n  found: machine id m-1 (here)\n  expected: a machine stands in a stack once, or with another root\nTo mend it: correct the address of one of them, take one out of the config, or give it another `root`",
            },
        ]);
    });
});

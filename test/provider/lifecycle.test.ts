import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, test } from "node:test";
import { HostError } from "../../provider/host/host";
import { FakeHost, unreachable } from "./fakeHost";
import { asset, type Provider, refused, serve, UNKNOWN, urn, type Values } from "./harness";

const placed = { connection: { name: "here" }, root: "/srv/fleet" };
const env = { ...placed, service: "s", variables: { A: "1", B: "b" } };

let host: FakeHost;
let provider: Provider;
beforeEach(async () => {
    host = new FakeHost();
    provider = await serve(() => host);
    await provider.handshake();
    await provider.configure();
});
afterEach(() => provider.stop());

/** Inputs as check hands them on. */
async function checked(type: string, news: Values, olds: Values = {}): Promise<Values> {
    const { inputs, failures } = await provider.check(type, news, olds);
    assert.deepEqual(failures, []);
    return inputs;
}

async function created(type: string, news: Values): Promise<{ id: string; state: Values; inputs: Values }> {
    const inputs = await checked(type, news);
    return { ...(await provider.create(type, inputs)), inputs };
}

describe("the life of an environment", () => {
    test("a preview writes nothing, a create stages, and each answer asks to be read before the next change", async () => {
        const inputs = await checked("EnvVars", env);
        const planned = await provider.create("EnvVars", inputs, { preview: true });
        assert.equal(planned.refresh, true);
        assert.deepEqual(host.calls, []);

        const { id, state, refresh } = await provider.create("EnvVars", inputs);
        assert.equal(id, "here/env/s");
        assert.equal(refresh, true);
        assert.match(String(state.owner), /^[0-9a-f]{16}$/);
        assert.deepEqual({ ...state, owner: "" }, planned.state);
        const claim = { kind: "env", name: "s", owner: state.owner, urn: urn("EnvVars") };
        assert.deepEqual(host.calls, [
            {
                op: "env.stage",
                args: { root: "/srv/fleet", claim, service: "s", id: inputs.digest, variables: env.variables },
            },
        ]);

        const read = await provider.read("EnvVars", id, state, inputs);
        assert.deepEqual(read, { id, state, inputs, refresh: true });
        assert.deepEqual((await provider.diff("EnvVars", read.state, inputs, inputs)).paths, {});
    });

    test("config and drift show by variable, old = what is on the host", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        host.facts.envs.s.variables = { A: "by hand", B: "b", OLD_TOKEN: "secret of somebody" };
        const live = (await provider.read("EnvVars", id, state, inputs)).state;
        assert.deepEqual(live.variables, { A: "by hand", B: "b", OLD_TOKEN: "(set, not managed)" });
        const news = await checked("EnvVars", { ...env, variables: { A: "1", C: "c" } }, inputs);
        const { paths, some } = await provider.diff("EnvVars", live, inputs, news);
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
        assert.deepEqual((await provider.diff("EnvVars", live, inputs, inputs, ['variables["A"]'])).paths, {
            'variables["B"]': "UPDATE",
        });
        assert.deepEqual((await provider.diff("EnvVars", live, inputs, inputs, ["variables"])).paths, {});
        assert.deepEqual((await provider.diff("EnvVars", live, inputs, inputs, ["variables.*"])).paths, {});
    });

    test("another way to the same host changes nothing, another root is another thing", async () => {
        const { state, inputs } = await created("EnvVars", env);
        const rotated = await checked(
            "EnvVars",
            { ...env, connection: { name: "here", host: "10.0.0.2", identityFile: "k2" } },
            inputs,
        );
        assert.deepEqual((await provider.diff("EnvVars", state, inputs, rotated)).paths, {});
        const moved = await checked("EnvVars", { ...env, root: "/opt/fleet" }, inputs);
        const { paths, replaces, before } = await provider.diff("EnvVars", state, inputs, moved);
        assert.deepEqual(
            { paths, replaces, before },
            { paths: { root: "UPDATE_REPLACE" }, replaces: ["root"], before: false },
        );
    });

    test("what is not there any more by the host's own word is gone, what belongs to another too", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        host.facts.envs.s.owner = "somebody else";
        assert.equal((await provider.read("EnvVars", id, state, inputs)).id, "");
        host.facts.envs = {};
        assert.equal((await provider.read("EnvVars", id, state, inputs)).id, "");
    });

    test("delete finds the host by the inputs", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        await provider.delete("EnvVars", id, state, inputs);
        const { op, args } = host.calls[1];
        assert.deepEqual(
            [op, args],
            [
                "env.remove",
                { root: "/srv/fleet", claim: { kind: "env", name: "s", owner: state.owner, urn: urn("EnvVars") } },
            ],
        );
    });

    test("an import without an inventory says what it needs", async () => {
        const { message } = await refused(provider.read("EnvVars", "here/env/s"));
        assert.equal(
            message,
            'here/env/s: how here is reached is not known\nTo mend it: set SGLANG_FLEET_INVENTORY to a JSON file like {"here": {"connection": {"host": "10.0.0.1", "user": "root"}, "root": "/opt/sglang-fleet"}}.',
        );
    });
});

describe("a host that cannot be reached", () => {
    test("keeps its state, differs in nothing, is looked for once, and is named when the program asks", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        host.away = unreachable();
        host.looks = 0;
        for (let at = 0; at < 3; at++) {
            const read = await provider.read("EnvVars", id, state, inputs);
            assert.deepEqual(read, { id, state, inputs, refresh: true });
        }
        assert.equal(host.looks, 1);
        assert.deepEqual(provider.engine.kept, [
            "here: connection refused\nNot looked at: its resources are shown as they were last seen.",
        ]);
        const stale = { ...state, variables: {} };
        assert.equal((await provider.diff("EnvVars", stale, inputs, inputs)).some, false);
        assert.deepEqual(await provider.unreached(), [
            { host: "here", message: "here: connection refused\nTo mend it: start sshd there" },
        ]);
    });

    test("lets a preview of a config change pass, and refuses the change itself", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        host.away = unreachable();
        await provider.read("EnvVars", id, state, inputs);
        const news = await checked("EnvVars", { ...env, variables: { A: "2" } }, inputs);
        assert.equal((await provider.diff("EnvVars", state, inputs, news)).some, true);
        assert.deepEqual((await provider.update("EnvVars", id, state, inputs, news, { preview: true })).state, state);
        const { message, left } = await refused(provider.update("EnvVars", id, state, inputs, news));
        assert.equal(message, "here: connection refused\nTo mend it: start sshd there");
        assert.equal(left, undefined);
        assert.equal((await provider.create("EnvVars", inputs, { preview: true })).id, "");
    });

    test("is given up only when the user names it", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        host.away = unreachable();
        const { message } = await refused(provider.delete("EnvVars", id, state, inputs));
        assert.equal(
            message,
            "here: connection refused\nTo mend it: start sshd there\nIf here is gone for good: SGLANG_FLEET_ABANDON=here pulumi destroy",
        );
        process.env.SGLANG_FLEET_ABANDON = "there,here";
        try {
            await provider.delete("EnvVars", id, state, inputs);
        } finally {
            delete process.env.SGLANG_FLEET_ABANDON;
        }
    });

    test("another machine at the same address is said", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        host.facts.machine.machineId = "m-2";
        host.facts.envs = {};
        assert.equal((await provider.read("EnvVars", id, state, inputs)).id, "");
        assert.deepEqual(provider.engine.kept, [
            "here: another machine answers there (machine id m-2, was m-1); what is missing on it is made anew.",
        ]);
    });
});

describe("what is not known yet", () => {
    test("an unknown address contacts nobody and says so", async () => {
        const inputs = await checked("EnvVars", { ...env, connection: { name: "here", host: UNKNOWN } });
        assert.deepEqual((await provider.create("EnvVars", inputs, { preview: true })).state, {});
        assert.deepEqual(provider.engine.kept, ["Planned after the host is known: connection.host."]);
        assert.equal(host.looks, 0);
    });

    test("one unknown value is an update of that value, never a replacement", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        const news = await checked("EnvVars", { ...env, variables: { A: UNKNOWN, B: "c" } }, inputs);
        const { paths, replaces } = await provider.diff("EnvVars", state, inputs, news);
        assert.deepEqual(paths, { 'variables["B"]': "UPDATE", 'variables["A"]': "UPDATE", digest: "UPDATE" });
        assert.deepEqual(replaces, []);
        assert.deepEqual((await provider.update("EnvVars", id, state, inputs, news, { preview: true })).state, {});
        const nowhere = await checked("EnvVars", { ...env, root: UNKNOWN }, inputs);
        assert.deepEqual((await provider.diff("EnvVars", state, inputs, nowhere)).replaces, []);
    });
});

describe("failures", () => {
    const fault = new HostError("here", {
        code: "gate",
        gate: "compile",
        message: "sglang/srt/x.py does not compile",
        where: "sglang/srt/x.py:3",
        found: "x = (",
        expected: "Python",
        detail: "line 1\nline 2\n",
        remedy: "correct the patch",
    });

    test("are told as what failed where, the last lines, the remedy; nothing is in the state", async () => {
        host.instead.set("env.stage", async () => Promise.reject(fault));
        const { message, left } = await refused(created("EnvVars", env));
        assert.equal(
            message,
            "here: gate compile: sglang/srt/x.py does not compile\n  where: sglang/srt/x.py:3\n  found: x = (\n  expected: Python\n  | line 1\n  | line 2\nTo mend it: correct the patch",
        );
        assert.equal(left, undefined);
    });

    test("after which something is there leave that in the state", async () => {
        host.instead.set("env.stage", async (args) => {
            host.done("env.stage", { ...args, variables: { A: "1" } });
            throw fault;
        });
        const { left } = await refused(created("EnvVars", env));
        assert.equal(left?.id, "here/env/s");
        assert.deepEqual(left?.properties.variables, { A: "1" });
        assert.equal(left?.reasons.length, 1);
        assert.equal(left?.refresh, true);
    });

    test("of an update that changed nothing leave the state alone, of one that changed something do not", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        const news = await checked("EnvVars", { ...env, variables: { A: "2", B: "3" } }, inputs);
        host.instead.set("env.stage", async () => Promise.reject(fault));
        assert.equal((await refused(provider.update("EnvVars", id, state, inputs, news))).left, undefined);
        host.instead.set("env.stage", async (args) => {
            host.done("env.stage", { ...args, variables: { A: "2", B: "b" } });
            throw fault;
        });
        const { left } = await refused(provider.update("EnvVars", id, state, inputs, news));
        assert.deepEqual(left?.properties.variables, { A: "2", B: "b" });
    });

    test("cancel reaches the call at work, whose answer says what became of it", async () => {
        const inputs = await checked("EnvVars", env);
        host.instead.set(
            "env.stage",
            (_args, { signal }) =>
                new Promise((_, reject) => {
                    signal?.addEventListener("abort", () =>
                        reject(
                            new HostError("here", { code: "cancelled", message: "ended before anything was changed" }),
                        ),
                    );
                }),
        );
        const answer = refused(provider.create("EnvVars", inputs));
        await new Promise((resolve) => setTimeout(resolve, 50));
        await provider.cancel();
        assert.deepEqual(await answer, { message: "cancelled: here: ended before anything was changed" });
    });

    test("a custom timeout ends the call and is named", async () => {
        const inputs = await checked("EnvVars", env);
        host.instead.set(
            "env.stage",
            (_args, { signal }) =>
                new Promise((_, reject) => {
                    signal?.addEventListener("abort", () =>
                        reject(new HostError("here", { code: "cancelled", message: "rolled back" })),
                    );
                }),
        );
        const { message } = await refused(provider.create("EnvVars", inputs, { timeout: 0.2 }));
        assert.equal(message, "stopped after the 0.2 s that customTimeouts allow: here: rolled back");
    });

    test("passwords and keys that a host repeats are not repeated", async () => {
        const key = 'sk-12345 "x"';
        const service = {
            ...placed,
            name: "s",
            venv: "v",
            release: "0123456789ab",
            env: "e1",
            model: "/m",
            port: 30001,
            apiKey: key,
        };
        host.instead.set("service.activate", async () => {
            throw new HostError("here", {
                code: "x",
                message: "failed",
                detail: `api_key=${key} ${JSON.stringify(key)} ${Buffer.from(key).toString("base64")}`,
            });
        });
        const { message } = await refused(created("SglangService", service));
        assert.equal(message, 'here: failed\n  | api_key=[secret] "[secret]" [secret]');
    });
});

describe("patches", () => {
    const text = (value: string): Values =>
        asset({ text: value, hash: createHash("sha256").update(value).digest("hex") });
    const patch = (value: string): Values => ({
        ...placed,
        venv: "v",
        patches: [{ path: "sglang/srt/x.py", file: text(value) }],
    });

    test("a changed line is shown as a diff under one sentence, and sent once", async () => {
        const { id, state, inputs } = await created("SourcePatch", patch("a = 1\nb = 2\n"));
        const news = await checked("SourcePatch", patch("a = 1\nb = 3\nc = 4\n"), inputs);
        assert.deepEqual((await provider.diff("SourcePatch", state, inputs, news)).paths, {
            'files["sglang/srt/x.py"]': "UPDATE",
        });
        const planned = (await provider.update("SourcePatch", id, state, inputs, news, { preview: true })).state;
        assert.equal(planned.digest, news.digest);
        assert.deepEqual(provider.engine.kept, [
            "sglang/srt/x.py: +2 -1\n@@ -1,2 +1,3 @@\n a = 1\n-b = 2\n+b = 3\n+c = 4",
        ]);
        const { state: updated } = await provider.update("SourcePatch", id, state, inputs, news);
        assert.deepEqual(
            host.sent.map(({ size }) => size),
            [12, 18],
        );
        assert.deepEqual((await provider.read("SourcePatch", id, updated, news)).state, updated);
        assert.deepEqual((await provider.diff("SourcePatch", updated, news, news)).paths, {});
    });

    test("a long diff is cut with a count", async () => {
        const lines = (word: string): string => Array.from({ length: 100 }, (_, at) => `${word} ${at}\n`).join("");
        const { id, state, inputs } = await created("SourcePatch", patch(lines("a")));
        const news = await checked("SourcePatch", patch(lines("b")), inputs);
        await provider.update("SourcePatch", id, state, inputs, news, { preview: true });
        const shown = provider.engine.kept[0].split("\n");
        assert.deepEqual(
            [shown[0], shown.length, shown.at(-1)],
            ["sglang/srt/x.py: +100 -100", 82, "… 121 more lines"],
        );
    });

    test("a declared diff is shown as it is", async () => {
        const diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
        const inputs = await checked("SourcePatch", {
            ...placed,
            venv: "v",
            patches: [{ module: "sglang.srt.x", diff: text(diff) }],
        });
        await provider.create("SourcePatch", inputs, { preview: true });
        assert.deepEqual(provider.engine.kept, ["sglang.srt.x: +1 -1\n@@ -1 +1 @@\n-a\n+b"]);
    });

    test("a content that is gone from the host is drift", async () => {
        const { id, state, inputs } = await created("SourcePatch", patch("a = 1\n"));
        host.facts.patches.v.files["sglang/srt/x.py"] = "missing";
        const live = (await provider.read("SourcePatch", id, state, inputs)).state;
        assert.deepEqual(live.files, { "sglang/srt/x.py": "missing" });
        assert.deepEqual((await provider.diff("SourcePatch", live, inputs, inputs)).paths, {
            'files["sglang/srt/x.py"]': "UPDATE",
        });
    });
});

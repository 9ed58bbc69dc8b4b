import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { HostError } from "../../provider/host/host";
import { bench, checked, created, eachTest, env, placed } from "./fixture";
import { asset, refused, urn } from "./harness";

eachTest();

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
        bench.host.instead.set("env.stage", async () => Promise.reject(fault));
        const { message, left } = await refused(created("EnvVars", env));
        assert.equal(
            message,
            "here: gate compile: sglang/srt/x.py does not compile\n  where: sglang/srt/x.py:3\n  found: x = (\n  expected: Python\n  | line 1\n  | line 2\nTo mend it: correct the patch",
        );
        assert.equal(left, undefined);
    });

    test("say each thing once: what the first sentence has is not in the lines below it", async () => {
        const problem = "lib/python3.11/x.py, line 3: SyntaxError: '(' was never closed: TEXT = (";
        const report = { code: "does-not-compile", gate: "compile", message: problem, where: "/r/lib/python3.11/x.py" };
        const once = new HostError("here", { ...report, found: "TEXT = (", detail: `${problem}\n` });
        bench.host.instead.set("env.stage", async () => Promise.reject(once));
        const { message } = await refused(created("EnvVars", env));
        assert.equal(message, `here: gate compile: ${problem}\n  where: /r/lib/python3.11/x.py`);
    });

    test("after which something is there leave that in the state", async () => {
        bench.host.instead.set("env.stage", async (args) => {
            bench.host.done("env.stage", { ...args, variables: { A: "1" } });
            throw fault;
        });
        const { left } = await refused(created("EnvVars", env));
        assert.equal(left?.id, "here/env/s");
        assert.deepEqual(left?.properties.variables, { A: "1" });
        assert.equal(left?.reasons.length, 1);
        assert.equal(left?.refresh, true);
    });

    test("in the middle of a first making stay in the state, so that their remains are removed with it", async () => {
        for (const [type, kind, inputs] of [
            ["EnvVars", "env/s", env],
            ["SourcePatch", "patch/v", { ...placed, venv: "v", patches: [] }],
            ["PackageOverlay", "overlay/v", { ...placed, venv: "v", overlays: [] }],
            [
                "Venv",
                "venv/v",
                {
                    ...placed,
                    name: "v",
                    base: { python: "3.12", requirements: asset({ text: "", hash: "c".repeat(64) }) },
                },
            ],
        ] as const) {
            for (const op of ["env.stage", "patch.stage", "overlay.stage", "venv.make"]) {
                bench.host.instead.set(op, async ({ claim }) => {
                    bench.host.facts.claims[kind] = { ...claim, urn: urn(type), since: 0 };
                    throw fault;
                });
            }
            const { left } = await refused(created(type, inputs));
            assert.equal(left?.id, `here/${kind}`);
            const { paths } = await bench.provider.diff(type, left.properties, {}, await checked(type, inputs));
            assert.notDeepEqual(paths, {});
        }
    });

    test("of an update that changed nothing leave the state alone, of one that changed something do not", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        const news = await checked("EnvVars", { ...env, variables: { A: "2", B: "3" } }, inputs);
        bench.host.instead.set("env.stage", async () => Promise.reject(fault));
        assert.equal((await refused(bench.provider.update("EnvVars", id, state, inputs, news))).left, undefined);
        bench.host.instead.set("env.stage", async (args) => {
            bench.host.done("env.stage", { ...args, variables: { A: "2", B: "b" } });
            throw fault;
        });
        const { left } = await refused(bench.provider.update("EnvVars", id, state, inputs, news));
        assert.deepEqual(left?.properties.variables, { A: "2", B: "b" });
    });

    test("cancel reaches the call at work, whose answer says what became of it", async () => {
        const inputs = await checked("EnvVars", env);
        bench.host.instead.set(
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
        const answer = refused(bench.provider.create("EnvVars", inputs));
        await new Promise((resolve) => setTimeout(resolve, 50));
        await bench.provider.cancel();
        assert.deepEqual(await answer, { message: "cancelled: here: ended before anything was changed" });
    });

    test("a custom timeout ends the call and is named", async () => {
        const inputs = await checked("EnvVars", env);
        bench.host.instead.set(
            "env.stage",
            (_args, { signal }) =>
                new Promise((_, reject) => {
                    signal?.addEventListener("abort", () =>
                        reject(new HostError("here", { code: "cancelled", message: "rolled back" })),
                    );
                }),
        );
        const { message } = await refused(bench.provider.create("EnvVars", inputs, { timeout: 0.2 }));
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
        bench.host.instead.set("service.activate", async () => {
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

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Caused } from "../../provider/resource";
import { tellPackages } from "../../provider/resources/packageChanges";
import { byCause, cut, mostLines } from "../../provider/told";
import { bench, checked, created, eachTest, env, placed } from "./fixture";
import { asset, type Values } from "./harness";

eachTest();

const change = (path: Caused["path"], cause: Caused["cause"]): Caused => ({ path, kind: "update", cause });

describe("who made a difference", () => {
    test("is the config, somebody on the host, or both", async () => {
        const { id, state, inputs } = await created("EnvVars", {
            ...env,
            variables: { A: "1", B: "2", C: "3", D: "4" },
        });
        const news = await checked(
            "EnvVars",
            { ...env, variables: { A: "1", B: "x", C: "y", D: "4", E: "5" } },
            inputs,
        );
        const live = { ...state, variables: { A: "edited", B: "2", C: "edited", F: "(set, not managed)", D: "4" } };
        await bench.provider.update("EnvVars", id, live, inputs, news, { preview: true });
        assert.deepEqual(bench.provider.engine.kept, [
            "here-EnvVars: config: B changed, E added; on the host: A changed, F added; config and the host: C changed",
        ]);
    });

    test("is said of nothing that the program ignores", async () => {
        const { id, state, inputs } = await created("EnvVars", env);
        const live = { ...state, variables: { A: "edited", B: "b" } };
        await bench.provider.update("EnvVars", id, live, inputs, inputs, { preview: true, ignore: ["variables.A"] });
        assert.deepEqual(bench.provider.engine.kept, []);
    });
});

describe("a release that was edited", () => {
    const base = { python: "3.12", requirements: asset({ text: "a==1\nb==2\n", hash: "5".repeat(64) }) };
    const inputsOf = (more: Values = {}): Values => ({
        ...placed,
        name: "v",
        base,
        files: { "module:sglang.srt.x": "diff eeeeeeeeeeee" },
        ...more,
    });

    test("says what was done to it, what becomes of that, and the lines", async () => {
        const { id, state, inputs } = await created("Venv", inputsOf());
        const made = bench.host.facts.venvs.v.releases[String(state.release)];
        const drift = [
            { path: "sglang/srt/x.py", kind: "edited" as const },
            { path: "sglang/y.py", kind: "extra" as const },
        ];
        Object.assign(made, { drift, driftCount: 2 });
        const lines = ["@@ -1 +1 @@", "-a", "+b"];
        bench.host.instead.set("venv.diff", async () => ({
            patches: [],
            files: [{ path: "sglang/srt/x.py", added: 1, removed: 1, lines, more: 0 }],
        }));
        const live = (await bench.provider.read("Venv", id, state, inputs)).state;
        assert.deepEqual(live.files, {
            "module:sglang.srt.x": "edited on the host",
            "sglang/y.py": "added on the host",
        });
        await bench.provider.update("Venv", id, live, inputs, inputs, { preview: true });
        assert.deepEqual(bench.provider.engine.kept, [
            [
                "here-Venv: on the host: sglang/srt/x.py edited",
                "on the host: sglang/y.py added",
                "up puts back what the release was made of",
                "--- sglang/srt/x.py (as made → on the host)",
                ...lines,
            ].join("\n"),
        ]);
    });

    test("of which the config wants another one keeps the edits there", async () => {
        const { id, state, inputs } = await created("Venv", inputsOf());
        const made = bench.host.facts.venvs.v.releases[String(state.release)];
        Object.assign(made, { drift: [{ path: "sglang/y.py", kind: "missing" }], driftCount: 1 });
        const live = (await bench.provider.read("Venv", id, state, inputs)).state;
        const news = await checked("Venv", inputsOf({ patches: "a".repeat(64) }), inputs);
        await bench.provider.update("Venv", id, live, inputs, news, { preview: true });
        assert.deepEqual(bench.provider.engine.kept, [
            `here-Venv: on the host: sglang/y.py missing\nup makes release ${news.release} without that; the old one keeps it`,
        ]);
    });

    test("of another base names each distribution that would have another version", async () => {
        const { id, state, inputs } = await created("Venv", inputsOf());
        const text = "sglang==0.5.23\ntorch==2.15.0 ; python_version > '3'\nnew-thing==1\n";
        const requirements = asset({ text, hash: "6".repeat(64) });
        const news = await checked("Venv", inputsOf({ base: { ...base, requirements } }), inputs);
        await bench.provider.update("Venv", id, state, inputs, news, { preview: true });
        assert.deepEqual(bench.provider.engine.kept, [
            "here-Venv: config: base requirements\n  config: new-thing (none) → 1\n  config: torch 2.14.1 → 2.15.0",
        ]);
    });
});

describe("packages", () => {
    test("are told with old and new, by who changed them", () => {
        const changes = [change(["packages", "torch"], "config"), change(["packages", "triton"], "host")];
        const told = tellPackages(
            changes,
            { torch: "2.9.1 aaaa", triton: "missing" },
            { torch: "2.11.0 bbbb", triton: "3" },
        );
        assert.equal(
            told,
            "2 packages: torch, triton\n  config: torch 2.9.1 aaaa → 2.11.0 bbbb\n  on the host: triton missing → 3",
        );
    });

    test("that are many are counted in the sentence", () => {
        const changes = Array.from({ length: 31 }, (_, at) => change(["packages", `p${at}`], "config"));
        assert.equal(tellPackages(changes, {}, {})?.split("\n")[0], "31 packages: p0, p1, p2 and 28 more");
    });

    test("that do not change are not told", () => {
        assert.equal(tellPackages([change(["digest"], "config")], {}, {}), undefined);
    });
});

describe("a long message", () => {
    test("is as long as SGLANG_FLEET_DIFF_LINES says", () => {
        assert.deepEqual(
            [mostLines(undefined), mostLines("12"), mostLines("all"), mostLines("many")],
            [80, 12, Number.MAX_SAFE_INTEGER, 80],
        );
    });

    test("is cut with a count of all that is left out, and says how to see it", () => {
        assert.deepEqual(cut(["a", "b", "c"], 2, 5), [
            "a",
            "b",
            "… 6 more lines; SGLANG_FLEET_DIFF_LINES=all shows them",
        ]);
        assert.deepEqual(cut(["a"], 1), ["a"]);
    });

    test("names nobody who did nothing", () => {
        assert.equal(
            byCause([change(["a"], "host")], () => "it"),
            "on the host: it",
        );
    });
});

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { bench, checked, created, eachTest, placed } from "./fixture";
import { asset, type Values } from "./harness";

eachTest();

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
        assert.deepEqual((await bench.provider.diff("SourcePatch", state, inputs, news)).paths, {
            'files["sglang/srt/x.py"]': "UPDATE",
        });
        const planned = (await bench.provider.update("SourcePatch", id, state, inputs, news, { preview: true })).state;
        assert.equal(planned.digest, news.digest);
        assert.deepEqual(bench.provider.engine.kept, [
            "here-SourcePatch: config: sglang/srt/x.py +2 -1\n@@ -1,2 +1,3 @@\n a = 1\n-b = 2\n+b = 3\n+c = 4",
        ]);
        const { state: updated } = await bench.provider.update("SourcePatch", id, state, inputs, news);
        assert.deepEqual(
            bench.host.sent.map(({ size }) => size),
            [12, 18],
        );
        assert.deepEqual((await bench.provider.read("SourcePatch", id, updated, news)).state, updated);
        assert.deepEqual((await bench.provider.diff("SourcePatch", updated, news, news)).paths, {});
    });

    test("a long diff is cut with a count", async () => {
        const lines = (word: string): string => Array.from({ length: 100 }, (_, at) => `${word} ${at}\n`).join("");
        const { id, state, inputs } = await created("SourcePatch", patch(lines("a")));
        const news = await checked("SourcePatch", patch(lines("b")), inputs);
        await bench.provider.update("SourcePatch", id, state, inputs, news, { preview: true });
        const shown = bench.provider.engine.kept[0].split("\n");
        assert.deepEqual(
            [shown[0], shown.length, shown.at(-1)],
            [
                "here-SourcePatch: config: sglang/srt/x.py +100 -100",
                82,
                "… 121 more lines; SGLANG_FLEET_DIFF_LINES=all shows them",
            ],
        );
    });

    test("a declared diff is shown as it is", async () => {
        const diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
        const inputs = await checked("SourcePatch", {
            ...placed,
            venv: "v",
            patches: [{ module: "sglang.srt.x", diff: text(diff) }],
        });
        await bench.provider.create("SourcePatch", inputs, { preview: true });
        assert.deepEqual(bench.provider.engine.kept, [
            "here-SourcePatch: config: sglang.srt.x +1 -1\n@@ -1 +1 @@\n-a\n+b",
        ]);
    });

    test("what is no unified diff of one file is refused before any host is asked, each with its path", async () => {
        const two = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n";
        const { failures } = await bench.provider.check("SourcePatch", {
            ...placed,
            venv: "v",
            patches: [
                { module: "sglang.srt.x", diff: text("X = 1\n") },
                { module: "sglang.srt.y", diff: text(two) },
                { module: "sglang.srt.z", diff: text("@@ -1 +1 @@\n-a\n+b\n") },
            ],
        });
        assert.deepEqual(failures, [
            "patches[0].diff: found no hunk (`@@ -1,3 +1,4 @@`), expected a unified diff; make it with `diff -u` or `git diff`, or give the file whole under `file`",
            "patches[1].diff: found a diff of 2 files, expected one of this file alone; declare a patch for each",
        ]);
        assert.deepEqual(bench.host.calls, []);
    });

    test("what the host says of a diff is shown: the file as it is made now against the file as it will be", async () => {
        const declared = (diff: string): Values => ({
            ...placed,
            venv: "v",
            patches: [{ module: "sglang.srt.x", diff: text(diff) }],
        });
        const { id, state, inputs } = await created("SourcePatch", declared("@@ -1 +1 @@\n-a\n+b\n"));
        const news = await checked("SourcePatch", declared("@@ -1 +1 @@\n-a\n+c\n"), inputs);
        bench.host.facts.venvs.v = { owner: "o", release: null, base: { kind: "managed", key: "" }, releases: {} };
        const lines = ["@@ -1 +1 @@", "-b", "+c"];
        const fits = { path: "sglang/srt/x.py", added: 1, removed: 1, lines, more: 7 };
        bench.host.instead.set("venv.diff", async () => ({ patches: [fits], files: [] }));
        await bench.provider.update("SourcePatch", id, state, inputs, news, { preview: true });
        assert.deepEqual(bench.provider.engine.kept, [
            `here-SourcePatch: config: sglang/srt/x.py +1 -1\n${lines.join("\n")}\n… 7 more lines; SGLANG_FLEET_DIFF_LINES=all shows them`,
        ]);
        assert.deepEqual(bench.host.calls.at(-1)?.args, {
            root: "/srv/fleet",
            venv: "v",
            patches: [{ target: { module: "sglang.srt.x" }, kind: "diff", text: "@@ -1 +1 @@\n-a\n+c\n", pre: null }],
            files: [],
            lines: 80,
        });
    });

    test("a diff that the host's file has already is said to be applied, and shows no lines", async () => {
        const patches = [{ module: "sglang.srt.x", diff: text("@@ -1 +1 @@\n-a\n+b\n") }];
        const news = await checked("SourcePatch", { ...placed, venv: "v", patches });
        bench.host.facts.venvs.v = { owner: "o", release: null, base: { kind: "managed", key: "" }, releases: {} };
        const same = { path: "sglang/srt/x.py", added: 0, removed: 0, lines: [], more: 0 };
        bench.host.instead.set("venv.diff", async () => ({ patches: [same], files: [] }));
        await bench.provider.create("SourcePatch", news, { preview: true });
        assert.deepEqual(bench.provider.engine.kept, ["here-SourcePatch: config: sglang/srt/x.py already applied"]);
    });

    test("a diff that does not fit the host's file is said in the preview already", async () => {
        const diff = text("@@ -1 +1 @@\n-a\n+b\n");
        const news = await checked("SourcePatch", {
            ...placed,
            venv: "v",
            patches: [{ module: "sglang.srt.x", diff }],
        });
        bench.host.facts.venvs.v = { owner: "o", release: null, base: { kind: "managed", key: "" }, releases: {} };
        const refused = { path: "sglang/srt/x.py", problem: "it does not apply; found: q" };
        bench.host.instead.set("venv.diff", async () => ({ patches: [refused], files: [] }));
        await bench.provider.create("SourcePatch", news, { preview: true });
        assert.deepEqual(bench.provider.engine.kept, [
            "here-SourcePatch: sglang/srt/x.py: the patch does not fit what the host has now\nit does not apply; found: q",
            "here-SourcePatch: config: sglang.srt.x +1 -1\n@@ -1 +1 @@\n-a\n+b",
        ]);
    });

    test("a content that is gone from the host is drift", async () => {
        const { id, state, inputs } = await created("SourcePatch", patch("a = 1\n"));
        bench.host.facts.patches.v.files["sglang/srt/x.py"] = "missing";
        const live = (await bench.provider.read("SourcePatch", id, state, inputs)).state;
        assert.deepEqual(live.files, { "sglang/srt/x.py": "missing" });
        assert.deepEqual((await bench.provider.diff("SourcePatch", live, inputs, inputs)).paths, {
            'files["sglang/srt/x.py"]': "UPDATE",
        });
        await bench.provider.update("SourcePatch", id, live, inputs, inputs, { preview: true });
        assert.deepEqual(bench.provider.engine.kept, ["here-SourcePatch: on the host: sglang/srt/x.py"]);
    });
});

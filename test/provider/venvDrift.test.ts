import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { FileDrift } from "../../provider/host/facts";
import { bench, created, eachTest, placed } from "./fixture";
import { asset, type Values } from "./harness";

const managed = {
    ...placed,
    name: "v",
    base: { python: "3.12", requirements: asset({ text: "sglang==0.5.23\n", hash: "c".repeat(64) }) },
};

eachTest();

describe("drift of a release", () => {
    const withFiles = {
        ...managed,
        packages: { torch: "2.11.0 dddddddddddd" },
        files: { "sglang/srt/x.py": "file eeeeeeeeeeee" },
    };

    async function drifted(
        drift: FileDrift[],
        packages: Record<string, string> = {},
    ): Promise<{ live: Values; paths: Record<string, string> }> {
        const { id, state, inputs } = await created("Venv", withFiles);
        const made = Object.values(bench.host.facts.venvs.v.releases)[0];
        Object.assign(made, { drift, driftCount: drift.length, packages: { ...made.packages, ...packages } });
        const live = (await bench.provider.read("Venv", id, state, inputs)).state;
        return { live, paths: (await bench.provider.diff("Venv", live, inputs, inputs)).paths };
    }

    test("shows each file and each distribution by name", async () => {
        const { live, paths } = await drifted(
            [
                { path: "sglang/srt/x.py", kind: "edited" },
                { path: "sglang/srt/y.py", kind: "missing" },
                { path: "sglang/z.py", kind: "extra" },
                { path: "torch-2.12.0.dist-info/METADATA", kind: "extra" },
                { path: "tqdm-4.0.dist-info/METADATA", kind: "extra" },
            ],
            { torch: "2.12.0", tqdm: "4.0" },
        );
        assert.deepEqual(live.files, {
            "sglang/srt/x.py": "edited on the host",
            "sglang/srt/y.py": "missing",
            "sglang/z.py": "added on the host",
        });
        assert.deepEqual(live.packages, { torch: "2.12.0", tqdm: "4.0" });
        assert.deepEqual(paths, {
            'files["sglang/srt/x.py"]': "UPDATE",
            'files["sglang/srt/y.py"]': "DELETE",
            'files["sglang/z.py"]': "DELETE",
            'packages["torch"]': "UPDATE",
            'packages["tqdm"]': "DELETE",
        });
    });

    test("counts many files by directory", async () => {
        const files = Array.from({ length: 30 }, (_, at) => ({ path: `torch/lib/f${at}.so`, kind: "edited" as const }));
        const { live } = await drifted([...files, { path: "torch/lib/new.so", kind: "extra" }]);
        assert.deepEqual(live.files, {
            "sglang/srt/x.py": "file eeeeeeeeeeee",
            "torch/lib/": "30 edited, 1 added on the host",
        });
    });

    test("counts many files by directory, but names patched ones and those of sglang, and site-packages", async () => {
        const files = Array.from({ length: 30 }, (_, at) => ({ path: `top${at}.txt`, kind: "missing" as const }));
        const { live } = await drifted([
            { path: "sglang/srt/x.py", kind: "edited" },
            { path: "sglang/srt/y.py", kind: "edited" },
            ...files,
        ]);
        assert.deepEqual(live.files, {
            "sglang/srt/x.py": "edited on the host",
            "sglang/srt/y.py": "edited on the host",
            "site-packages/": "30 missing on the host",
        });
    });

    test("says of a mode that it is the mode", async () => {
        const { live } = await drifted([{ path: "sglang/srt/x.py", kind: "edited", mode: "644 → 600" }]);
        assert.deepEqual(live.files, { "sglang/srt/x.py": "mode 644 → 600 on the host" });
    });

    test("counts the files of a distribution that an installer exchanged, and compares none of them", async () => {
        const { id, state, inputs } = await created("Venv", withFiles);
        const made = Object.values(bench.host.facts.venvs.v.releases)[0];
        Object.assign(made, {
            drift: [
                { path: "a/b.py", kind: "missing" },
                { path: "sglang/srt/x.py", kind: "edited" },
                { path: "sglang/z.py", kind: "edited", mode: "644 → 600" },
            ],
            driftCount: 3,
            exchanged: {
                humanize: { was: null, now: "4.9.0", files: 37, loaded: 30 },
                packaging: { was: "26.4", now: "24.0", files: 20, loaded: 14 },
                tqdm: { was: "4.0", now: null, files: 1, loaded: 1 },
                torch: { was: "2.14.1", now: "2.14.1", files: 9, loaded: 9 },
            },
        });
        const live = (await bench.provider.read("Venv", id, state, inputs)).state;
        assert.deepEqual(live.packages, { humanize: "4.9.0", packaging: "24.0", tqdm: "missing", torch: "2.14.1" });
        await bench.provider.update("Venv", id, live, inputs, inputs, { preview: true });
        assert.deepEqual(bench.provider.engine.kept[0]?.split("\n"), [
            "here-Venv: on the host: sglang/srt/x.py edited",
            "on the host: sglang/z.py mode 644 → 600",
            "on the host: humanize 4.9.0 added, 37 files",
            "on the host: packaging 26.4 → 24.0, 20 files",
            "on the host: torch 2.14.1 installed again, 9 files",
            "on the host: tqdm 4.0 removed, 1 file",
            "on the host: a/b.py missing",
            "up puts back what the release was made of",
        ]);
        assert.deepEqual(
            bench.host.calls.filter(({ op }) => op === "venv.diff").map(({ args }) => args.files),
            [["sglang/srt/x.py"]],
        );
    });

    test("that was undone by hand leaves no trace", async () => {
        const { id, state, inputs } = await created("Venv", withFiles);
        const made = Object.values(bench.host.facts.venvs.v.releases)[0];
        Object.assign(made, { drift: [{ path: "sglang/srt/x.py", kind: "edited" }], driftCount: 1 });
        const live = (await bench.provider.read("Venv", id, state, inputs)).state;
        Object.assign(made, { drift: [], driftCount: 0 });
        assert.deepEqual((await bench.provider.read("Venv", id, live, inputs)).state, state);
    });

    test("a release that is not whole, or is gone, is made anew", async () => {
        const { id, state, inputs } = await created("Venv", withFiles);
        const release = String(state.release);
        bench.host.facts.venvs.v.releases[release].complete = false;
        assert.equal((await bench.provider.read("Venv", id, state, inputs)).state.release, `${release} (incomplete)`);
        bench.host.facts.venvs.v.releases = {};
        const live = (await bench.provider.read("Venv", id, state, inputs)).state;
        assert.equal(live.release, `${release} (missing)`);
        assert.deepEqual((await bench.provider.diff("Venv", live, inputs, inputs)).paths.release, "UPDATE");
    });
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { PatchedFacts } from "../../provider/host/serviceFacts";
import { notAsPatched, patchedLive } from "../../provider/resources/servicePatched";
import { bench, created, eachTest, service } from "./fixture";

eachTest();

const facts = (more: Partial<PatchedFacts> = {}): PatchedFacts => ({
    path: "sglang/srt/x.py",
    file: "/r/sglang/srt/x.py",
    sha256: "5",
    declared: "5",
    older: false,
    ...more,
});

describe("a patched file of a service", () => {
    const cases: [string, Partial<PatchedFacts>, Record<string, unknown>, string[]][] = [
        ["that is the declared one and older than the process", {}, { content: "as declared", newer: true }, []],
        [
            "that was edited under the process",
            { sha256: "6", older: true },
            { content: "differs", newer: false },
            ["sglang.srt.x is /r/sglang/srt/x.py: it differs from what is declared, the process is older than it"],
        ],
        [
            "that was put back under the process",
            { older: true },
            { content: "as declared", newer: false },
            ["sglang.srt.x is /r/sglang/srt/x.py: it is as declared, the process is older than it"],
        ],
        [
            "that is gone",
            { sha256: null, older: true },
            { content: "missing", newer: false },
            ["sglang.srt.x is gone from the release"],
        ],
    ];
    for (const [name, more, state, told] of cases) {
        test(name, () => {
            const patched = patchedLive([facts(more)]);
            assert.deepEqual(patched, { "sglang.srt.x": { file: "/r/sglang/srt/x.py", ...state } });
            assert.deepEqual(notAsPatched(patched), told);
        });
    }

    test("that is no module goes by its path", () => {
        assert.deepEqual(Object.keys(patchedLive([facts({ path: "sglang/config.json" })])), ["sglang/config.json"]);
    });

    test("is told in the preview of a restart that the process is the reason of", async () => {
        const { id, state, inputs } = await created("SglangService", service);
        const live = {
            ...state,
            process: "older than sglang/srt/x.py",
            patched: patchedLive([facts({ sha256: "6", older: true })]),
        };
        await bench.provider.update("SglangService", id, live, inputs, inputs, { preview: true });
        assert.deepEqual(bench.provider.engine.kept, [
            [
                "here-SglangService: restarts: process",
                "  on the host: older than sglang/srt/x.py",
                "  sglang.srt.x is /r/sglang/srt/x.py: it differs from what is declared, the process is older than it",
            ].join("\n"),
        ]);
    });
});

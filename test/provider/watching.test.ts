import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tellMovedBase } from "../../provider/resources/movedBase";
import { tellMade } from "../../provider/resources/venvMade";
import { verifying } from "../../provider/verify";

describe("what a look hashes", () => {
    for (const [given, whole] of [
        [undefined, false],
        ["", false],
        ["0", false],
        ["false", false],
        ["No", false],
        ["1", true],
        ["yes", true],
    ] as const) {
        it(`SGLANG_FLEET_VERIFY=${given ?? "(not set)"}: ${whole ? "every file" : "what is watched"}`, () => {
            assert.equal(verifying(given), whole);
        });
    }
});

describe("an adopted venv", () => {
    const moved = {
        packages: { gadget: [null, "1.0"], widget: ["1.0", "2.0"] } as Record<string, [string | null, string | null]>,
        files: 22,
        first: ["gadget/__init__.py", "widget/__init__.py"],
    };

    it("that moved is told by packages, then by files, with a count of the rest", () => {
        assert.deepEqual(tellMovedBase({ kind: "adopt", path: "/opt/venv", fingerprint: "f", moved }), [
            "/opt/venv was changed on the host: 2 packages, 22 files",
            "  gadget (none) → 1.0",
            "  widget 1.0 → 2.0",
            "  gadget/__init__.py",
            "  widget/__init__.py",
            "  … 20 more lines; SGLANG_FLEET_DIFF_LINES=all shows them",
        ]);
    });

    it("that did not move, or is gone, is not told", () => {
        assert.deepEqual(tellMovedBase({ kind: "adopt", path: "/opt/venv", fingerprint: "f" }), []);
        assert.deepEqual(tellMovedBase({ kind: "adopt", path: "/opt/venv", fingerprint: "f", moved: null }), []);
        assert.deepEqual(tellMovedBase({ kind: "managed", key: "k" }), []);
    });

    it("with files that are not what their wheels say is told of once, when it is adopted", () => {
        assert.deepEqual(
            tellMade(
                {
                    notes: [],
                    shared: [],
                    foreign: { sglang: { files: 3, first: ["sglang/srt/x.py", "sglang/srt/y.py"] } },
                },
                "",
            ),
            [
                "files of the adopted base that are not what their wheels say; they are kept as they are:\n  sglang: sglang/srt/x.py and 2 more",
            ],
        );
    });
});

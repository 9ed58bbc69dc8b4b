import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
    completion,
    declaredIn,
    expectExit,
    filled,
    handEdits,
    live,
    previewed,
    randomly,
    releases,
    rootOf,
    served,
    server,
    shownOf,
} from "./harness";

describe("whatever is edited in a release", () => {
    const on = served();
    const site = () =>
        join(
            rootOf(on.workspace),
            "venvs/tiny/releases",
            releases(on.workspace)[0] as string,
            "lib/python3.11/site-packages",
        );
    /** Each look compares the content of these. */
    const watched = () =>
        ["sglang", "sgl_kernel"].flatMap((name) =>
            readdirSync(join(site(), name), { recursive: true, encoding: "utf8" })
                .filter((path) => path.endsWith(".py"))
                .map((path) => `${name}/${path}`)
                .sort(),
        );

    it("a preview plans exactly that, up gives back the declared tree and restarts for what may be loaded, and nothing is left to do", async (t) => {
        const whole = declaredIn(rootOf(on.workspace));
        const { seed, runs } = randomly(handEdits(watched()), 3);
        for (const edits of runs) {
            const about = `SGLANG_TEST_SEED=${seed}: ${edits.map(({ what }) => what).join(", ")}`;
            t.diagnostic(about);
            const old = server(on.workspace);
            for (const { shell } of edits) {
                execFileSync("sh", ["-euc", shell], { cwd: site() });
            }
            const shown = shownOf(edits);
            const expected = filled(
                Object.fromEntries(Object.entries(shown).map(([row, paths]) => [`here-${row}`, paths])),
            );
            assert.deepEqual(live(previewed(await on.workspace.pulumi("preview", "--json"))), expected, about);
            expectExit(await on.workspace.up());
            assert.deepEqual(declaredIn(rootOf(on.workspace)), whole, about);
            assert.equal(await completion(on.port), "Lyon.", about);
            assert.equal(server(on.workspace) !== old, "process" in shown.chat, `${about}: whether it was restarted`);
            expectExit(await on.workspace.pulumi("preview", "--expect-no-changes"));
        }
    });
});

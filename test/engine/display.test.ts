import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
    describeFleet,
    expectExit,
    freePort,
    golden,
    nameOf,
    noTerminal,
    orderedDiff,
    orderedTree,
    releases,
    rootOf,
    type Wishes,
    Workspace,
} from "./harness";

interface Document {
    steps: { op: string; urn: string; detailedDiff?: Record<string, { kind: string }> | null }[];
    diagnostics: { urn: string; message: string; severity: string }[];
    changeSummary: Record<string, number>;
}

/** What a person, and a program, is shown when the config and the host have changed both. `test/engine/golden` has the texts. */
describe("a preview of changes in the config and on the host", () => {
    let workspace: Workspace;
    // One after the other, so that each message comes with its own resource.
    const inTurn = ["--parallel", "1"];

    before(async () => {
        workspace = await Workspace.make();
        const port = await freePort();
        const wishes = (answer: string, greeting: string, fraction: number): Wishes => ({
            port,
            answer,
            env: { GREETING: greeting, NCCL_ALGO: "Ring" },
            service: { flags: { "mem-fraction-static": fraction, "disable-radix-cache": true } },
        });
        describeFleet(workspace, wishes("Lyon.", "hello", 0.8));
        expectExit(await workspace.up());
        edit("sglang/srt/answer.py", 'TEXT = "Rome."');
        edit("sglang/launch_server.py", "# looked at on the host");
        describeFleet(workspace, wishes("Nice.", "bonjour", 0.9));
    });
    after(() => workspace.close());

    /** Adds a line to a file of the release as an editor does that writes a new file. */
    function edit(path: string, line: string): void {
        const site = join(rootOf(workspace), "venvs/tiny/releases", releases(workspace)[0] as string);
        const full = join(site, "lib/python3.11/site-packages", path);
        const text = readFileSync(full, "utf8");
        rmSync(full);
        writeFileSync(full, `${text}\n${line}\n`);
    }

    for (const columns of [80, 200]) {
        it(`as a tree, ${columns} columns wide`, { skip: noTerminal() }, async () => {
            golden(`tree-${columns}.txt`, orderedTree(await workspace.screen(columns, "preview", ...inTurn)));
        });

        it(`with --diff, ${columns} columns wide`, { skip: noTerminal() }, async () => {
            const shown = await workspace.screen(columns, "preview", "--diff", ...inTurn);
            golden(`diff-${columns}.txt`, orderedDiff(shown));
        });
    }

    it("with --json: each difference by its path, each message with its resource", async () => {
        const outcome = expectExit(await workspace.pulumi("preview", "--json", ...inTurn));
        const { steps, diagnostics, changeSummary } = JSON.parse(outcome.stdout) as Document;
        const differing = steps.filter(({ detailedDiff }) => detailedDiff != null);
        const byName = (a: { resource: string }, b: { resource: string }): number => (a.resource < b.resource ? -1 : 1);
        const told = {
            changes: differing
                .map(({ op, urn, detailedDiff }) => ({ op, resource: nameOf(urn), detailedDiff }))
                .sort(byName),
            diagnostics: diagnostics
                .map(({ urn, severity, message }) => ({
                    resource: nameOf(urn),
                    severity,
                    message: message.trimEnd().split("\n"),
                }))
                .sort(byName),
            changeSummary,
        };
        golden("preview.json.txt", `${JSON.stringify(told, null, 2)}\n`);
    });
});

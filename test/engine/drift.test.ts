import assert from "node:assert/strict";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
    completion,
    describeFleet,
    expectExit,
    kill,
    processesOf,
    releases,
    rootOf,
    served,
    server,
    servers,
    until,
    type Workspace,
} from "./harness";

describe("what others change on the host", () => {
    const on = served();

    it("a server that was killed for good shows in preview, and up starts it", async () => {
        // The supervisor would start it again.
        for (const pid of [...keepers(on.workspace), ...servers(on.workspace)]) {
            kill(pid, "SIGKILL");
        }
        await until("no server", () => servers(on.workspace).length === 0);
        const { paths } = await on.workspace.plan();
        assert.ok((paths["here-chat"] ?? []).length > 0, JSON.stringify(paths));
        expectExit(await on.workspace.up());
        assert.equal(await completion(on.port), "Lyon.");
        expectExit(await on.workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("an edited file of the release shows by its path, and up puts it back", async () => {
        const { file, content } = edit(releases(on.workspace)[0] as string);
        const preview = expectExit(await on.workspace.pulumi("preview", "--diff"));
        assert.match(preview.output, /sglang\/srt\/server_args\.py/);
        expectExit(await on.workspace.up());
        assert.equal(readFileSync(file, "utf8"), content);
        assert.equal(await completion(on.port), "Lyon.");
        server(on.workspace);
        expectExit(await on.workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("an edited file of an earlier release shows when that is wanted again, and up puts it back", async () => {
        const [first] = releases(on.workspace);
        describeFleet(on.workspace, { port: on.port, answer: "Nice." });
        expectExit(await on.workspace.up());
        const { file, content } = edit(first as string);
        describeFleet(on.workspace, { port: on.port });
        const { output } = expectExit(await on.workspace.pulumi("preview"));
        assert.match(output, new RegExp(`release ${first} is still on the host, but was changed there; up puts back`));
        assert.match(output, /sglang\/srt\/server_args\.py edited\n.*\+# edited by hand/s);
        expectExit(await on.workspace.up());
        assert.equal(readFileSync(file, "utf8"), content);
        assert.equal(await completion(on.port), "Lyon.");
        expectExit(await on.workspace.pulumi("preview", "--expect-no-changes"));
    });

    /** Adds a line to a file of a release; its path and its content before. By rename, as careful editors do: releases share their files by hard links. */
    function edit(release: string): { file: string; content: string } {
        const site = join(rootOf(on.workspace), "venvs/tiny/releases", release, "lib/python3.11/site-packages");
        const file = join(site, "sglang/srt/server_args.py");
        const content = readFileSync(file, "utf8");
        writeFileSync(`${file}.new`, `${content}# edited by hand\n`);
        renameSync(`${file}.new`, file);
        return { file, content };
    }
});

/** Pids of the processes that start a server of the workspace's host again when it dies. */
function keepers(workspace: Workspace): number[] {
    return processesOf(workspace.host)
        .filter(({ argv }) => argv.some((word) => word.endsWith("/keeper.py")))
        .map(({ pid }) => pid);
}

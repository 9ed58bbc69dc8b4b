import assert from "node:assert/strict";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
    completion,
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
        const [release] = releases(on.workspace);
        const path = "sglang/srt/server_args.py";
        const file = join(
            rootOf(on.workspace),
            "venvs/tiny/releases",
            release as string,
            "lib/python3.11/site-packages",
            path,
        );
        const content = readFileSync(file, "utf8");
        // By rename, as careful editors do: releases share their files by hard links.
        writeFileSync(`${file}.new`, `${content}# edited by hand\n`);
        renameSync(`${file}.new`, file);

        const preview = expectExit(await on.workspace.pulumi("preview", "--diff"));
        assert.match(preview.output, /sglang\/srt\/server_args\.py/);
        expectExit(await on.workspace.up());
        assert.equal(readFileSync(file, "utf8"), content);
        assert.equal(await completion(on.port), "Lyon.");
        server(on.workspace);
        expectExit(await on.workspace.pulumi("preview", "--expect-no-changes"));
    });
});

/** Pids of the processes that start a server of the workspace's host again when it dies. */
function keepers(workspace: Workspace): number[] {
    return processesOf(workspace.host)
        .filter(({ argv }) => argv.some((word) => word.endsWith("/keeper.py")))
        .map(({ pid }) => pid);
}

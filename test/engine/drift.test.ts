import assert from "node:assert/strict";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
    completion,
    describeFleet,
    expectExit,
    freePort,
    kill,
    processesOf,
    releases,
    rootOf,
    server,
    servers,
    until,
    Workspace,
} from "./harness";

describe("what others change on the host", () => {
    let workspace: Workspace;
    let port: number;

    before(async () => {
        workspace = await Workspace.make();
        port = await freePort();
        describeFleet(workspace, { port });
        expectExit(await workspace.up());
    });
    after(() => workspace.close());

    it("a server that was killed for good shows in preview, and up starts it", async () => {
        // The supervisor would start it again.
        for (const pid of [...keepers(workspace), ...servers(workspace)]) {
            kill(pid, "SIGKILL");
        }
        await until("no server", () => servers(workspace).length === 0);
        const { paths } = await workspace.plan();
        assert.ok((paths["here-chat"] ?? []).length > 0, JSON.stringify(paths));
        expectExit(await workspace.up());
        assert.equal(await completion(port), "Lyon.");
        expectExit(await workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("an edited file of the release shows by its path, and up puts it back", async () => {
        const [release] = releases(workspace);
        const path = "sglang/srt/server_args.py";
        const file = join(
            rootOf(workspace),
            "venvs/tiny/releases",
            release as string,
            "lib/python3.11/site-packages",
            path,
        );
        const content = readFileSync(file, "utf8");
        // By rename, as careful editors do: releases share their files by hard links.
        writeFileSync(`${file}.new`, `${content}# edited by hand\n`);
        renameSync(`${file}.new`, file);

        const preview = expectExit(await workspace.pulumi("preview", "--diff"));
        assert.match(preview.output, /sglang\/srt\/server_args\.py/);
        expectExit(await workspace.up());
        assert.equal(readFileSync(file, "utf8"), content);
        assert.equal(await completion(port), "Lyon.");
        server(workspace);
        expectExit(await workspace.pulumi("preview", "--expect-no-changes"));
    });
});

/** Pids of the processes that start a server of the workspace's host again when it dies. */
function keepers(workspace: Workspace): number[] {
    return processesOf(workspace.host)
        .filter(({ argv }) => argv.some((word) => word.endsWith("/keeper.py")))
        .map(({ pid }) => pid);
}

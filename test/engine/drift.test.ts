import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
    completion,
    describeFleet,
    expectExit,
    kill,
    processesOf,
    project,
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

    it("a patched file shows by name and line among the files of an install and many others", async () => {
        const release = releases(on.workspace)[0] as string;
        const { file, content } = edit(release, "answer.py");
        const site = join(file, "../../..");
        for (let at = 0; at < 40; at++) {
            mkdirSync(join(site, `a/${at}`), { recursive: true });
            writeFileSync(join(site, `a/${at}/notes.txt`), "");
        }
        writeFileSync(join(site, "notes.txt"), "");
        mkdirSync(join(on.workspace.folder, "extra"));
        const make = `from test.standin.make_wheels import write_wheel; write_wheel("${on.workspace.folder}/extra", "gadget", "1.0", {"gadget/%d.py" % at: b"" for at in range(150)})`;
        execFileSync("python3", ["-B", "-c", make], { cwd: project });
        const python = join(rootOf(on.workspace), "venvs/tiny/releases", release, "bin/python");
        const offline = ["--no-index", "--find-links", join(on.workspace.folder, "extra"), "--link-mode", "copy"];
        execFileSync("uv", ["pip", "install", "-q", "--python", python, ...offline, "gadget"]);
        const { output } = expectExit(await on.workspace.pulumi("preview", "--diff"));
        assert.match(output, /~ module:sglang\.srt\.answer: "edited on the host" => "diff /);
        assert.match(output, /on the host: sglang\/srt\/answer\.py edited\non the host: gadget 1\.0 added, 15\d files/);
        assert.match(output, /on the host: site-packages\/ \d+ added/);
        assert.match(output, /--- sglang\/srt\/answer\.py \(as made → on the host\)/);
        assert.match(output, /runs from a release with 151 changed files/);
        assert.doesNotMatch(output, /gadget\/1/);
        expectExit(await on.workspace.up());
        assert.equal(readFileSync(file, "utf8"), content);
        assert.equal(existsSync(join(site, "gadget")), false);
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
    function edit(release: string, name = "server_args.py"): { file: string; content: string } {
        const site = join(rootOf(on.workspace), "venvs/tiny/releases", release, "lib/python3.11/site-packages");
        const file = join(site, "sglang/srt", name);
        const content = readFileSync(file, "utf8");
        writeFileSync(`${file}.new`, `${content}# edited by hand\n`);
        renameSync(`${file}.new`, file);
        return { file, content };
    }
});

describe("a server that its supervisor had to start again", () => {
    const on = served({ env: { STANDIN_READY_AFTER: "3" } });

    it("is no difference, but until somebody listens on its port preview warns of it", async () => {
        const old = server(on.workspace);
        kill(old, "SIGKILL");
        const others = (): number[] => servers(on.workspace).filter((pid) => pid !== old);
        await until("another server", () => others().length > 0);
        // It loads for as long as this takes.
        const loading = others();
        const send = (signal: NodeJS.Signals): void => {
            for (const pid of loading) {
                process.kill(pid, signal);
            }
        };
        send("SIGSTOP");
        try {
            const { output } = expectExit(await on.workspace.pulumi("preview", "--expect-no-changes"));
            const told = `runs for \\d+ s \\(pid \\d+\\), but nothing listens on port ${on.port}: it still loads, or hangs`;
            assert.match(output, new RegExp(told));
        } finally {
            send("SIGCONT");
        }
        await until("an answer", async () => (await completion(on.port).catch(() => "")) === "Lyon.");
        const { output } = expectExit(await on.workspace.pulumi("preview", "--expect-no-changes"));
        assert.doesNotMatch(output, /listens/);
    });
});

/** Pids of the processes that start a server of the workspace's host again when it dies. */
function keepers(workspace: Workspace): number[] {
    return processesOf(workspace.host)
        .filter(({ argv }) => argv.some((word) => word.endsWith("/keeper.py")))
        .map(({ pid }) => pid);
}

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { after, before, describe, it } from "node:test";
import {
    answerModule,
    completion,
    describeFleet,
    expectExit,
    freePort,
    processesOf,
    project,
    until,
    Workspace,
} from "./harness";

describe("a server that somebody started by hand and that holds the port", () => {
    let workspace: Workspace;
    let port: number;
    let theirs: ChildProcess;
    const words = () => ["-m", "sglang.launch_server", "--model-path", workspace.host, "--port", String(port)];

    before(async () => {
        workspace = await Workspace.make();
        port = await freePort();
        const env = { ...process.env, PYTHONPATH: `${project}/test/standin/src`, HOME: workspace.folder };
        theirs = spawn("python3", words(), { env, cwd: workspace.host, stdio: "ignore", detached: true });
        await until("the server answers", () => completion(port).then(Boolean, () => false));
    });
    after(() => workspace.close());

    const running = () =>
        processesOf(workspace.folder)
            .filter(({ argv }) => argv.slice(1).join(" ") === words().join(" "))
            .map(({ pid }) => pid);

    it("is named in the preview, with what to do, and is left alone by `up`", async () => {
        describeFleet(workspace, { port });
        const { output } = expectExit(await workspace.pulumi("preview"));
        const seen = output.replaceAll(/\s+/g, " ");
        assert.match(
            seen,
            new RegExp(
                `as the host stands, this would fail: port ${port} is taken by pid ${theirs.pid} \\(user \\S+, \\S*python3 -m sglang.launch_server .*; set \`takeOverPort: true\` to have it stopped`,
            ),
        );
        assert.notEqual((await workspace.up()).code, 0);
        assert.deepEqual(running(), [theirs.pid]);
    });

    it("is taken over when that is asked for, and is back when ours fails", async () => {
        const service = { takeOverPort: true, ready: { timeout: "5s", stable: "1s" } };
        const never = answerModule("Nice.", 'os.environ["STANDIN_NEVER_READY"] = "1"');
        describeFleet(workspace, { port, service, module: never });
        const { output } = expectExit(await workspace.pulumi("preview"));
        const seen = output.replaceAll(/\s+/g, " ");
        assert.match(
            seen,
            new RegExp(`stops pid ${theirs.pid} .* which holds port ${port}; it is started again if this fails`),
        );
        const failed = await workspace.up();
        assert.notEqual(failed.code, 0);
        assert.match(failed.output, /the server that was found there runs again and answers/);
        assert.equal(await completion(port), "Paris.");
        assert.equal(running().length, 1);
        assert.notEqual(running()[0], theirs.pid);
    });

    it("makes room for ours, and nothing is left to do", async () => {
        describeFleet(workspace, { port, service: { takeOverPort: true } });
        expectExit(await workspace.up());
        assert.equal(await completion(port), "Lyon.");
        assert.deepEqual(running(), []);
        expectExit(await workspace.pulumi("preview", "--expect-no-changes"));
    });
});

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
    answerModule,
    completion,
    describeFleet,
    expectExit,
    freePort,
    rootOf,
    standinWheels,
    type Tree,
    tree,
    Workspace,
} from "./harness";

describe("an adopted venv", () => {
    let workspace: Workspace;
    let port: number;
    let adopt: string;
    let untouched: Tree;
    let previewed: string;

    before(async () => {
        workspace = await Workspace.make();
        port = await freePort();
        adopt = join(workspace.host, "theirs");
        const wheels = standinWheels(workspace);
        execFileSync("uv", ["venv", "--quiet", "--python", "3.11", adopt]);
        execFileSync("uv", [
            "pip",
            "install",
            "--quiet",
            "--python",
            join(adopt, "bin/python"),
            "--no-index",
            "--find-links",
            wheels,
            "sglang",
        ]);
        mkdirSync(join(adopt, site(adopt), "~orch"));
        writeFileSync(join(adopt, site(adopt), "~orch/left.py"), "");
        writeFileSync(join(adopt, "bin/tool"), "#!/gone/venv/bin/python\n", { mode: 0o755 });
        untouched = tree(adopt);
        describeFleet(workspace, { port, adopt });
        previewed = expectExit(await workspace.pulumi("preview")).output;
        expectExit(await workspace.up());
    });
    after(() => workspace.close());

    it("is told of in the first preview: what interrupted installs left, and scripts that run another venv's interpreter", () => {
        assert.match(previewed, /~orch was left by an interrupted install/);
        assert.match(
            previewed,
            /1 script of \S+theirs, which was copied from elsewhere: bin\/tool runs \/gone\/venv\/bin\/python/,
        );
    });

    it("is served from a copy, patched", async () => {
        assert.equal(await completion(port), "Lyon.");
        assert.deepEqual(tree(adopt), untouched);
    });

    it("stays as it is through a patch, a roll-back and back again", async () => {
        describeFleet(workspace, { port, adopt, answer: "Nice." });
        expectExit(await workspace.up());
        const never = answerModule("Rome.", 'os.environ["STANDIN_NEVER_READY"] = "1"');
        describeFleet(workspace, { port, adopt, module: never, service: { ready: { timeout: "4s", stable: "1s" } } });
        assert.notEqual((await workspace.up()).code, 0);
        assert.equal(await completion(port), "Nice.");
        assert.deepEqual(tree(adopt), untouched);
    });

    it("can be written over without reaching a release", async () => {
        const release = tree(join(rootOf(workspace), "venvs"), "content");
        const theirs = join(adopt, site(adopt), "sglang/srt/answer.py");
        copyFileSync(theirs, join(workspace.folder, "answer.py"));
        writeFileSync(theirs, 'TEXT = "overwritten"\nMODEL_INFO = {}\n');
        assert.deepEqual(tree(join(rootOf(workspace), "venvs"), "content"), release);
        assert.equal(await completion(port), "Nice.");
        copyFileSync(join(workspace.folder, "answer.py"), theirs);
    });

    it("is all that is left after destroy", async () => {
        describeFleet(workspace, { port, adopt });
        expectExit(await workspace.destroy());
        assert.deepEqual(readdirSync(workspace.host), ["theirs"]);
        assert.equal(existsSync(rootOf(workspace)), false);
        assert.deepEqual(Object.keys(tree(adopt)), Object.keys(untouched));
    });
});

/** `lib/python3.x/site-packages` of a venv. */
function site(venv: string): string {
    const [python] = readdirSync(join(venv, "lib")).filter((name) => name.startsWith("python3"));
    return join("lib", python as string, "site-packages");
}

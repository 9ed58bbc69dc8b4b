import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
    completion,
    describeFleet,
    expectExit,
    freePort,
    project,
    releases,
    rootOf,
    server,
    standinWheels,
    tree,
    type Wishes,
    Workspace,
} from "./harness";

/** How setuptools installs a source tree: by a path line, or, where the package lies flat in its project, by a finder. */
const pth = { folder: "src", setuptools: 'package-dir = { "" = "src" }\npackages.find.where = ["src"]' };
const finder = { folder: "", setuptools: 'packages.find.include = ["sglang*"]' };

/** As in the field: the checkout is `sglang`, its project `sglang/python`, the venv lies beside it, and so does the server's working directory. */
class Extraction {
    private constructor(
        readonly workspace: Workspace,
        readonly port: number,
        readonly adopt: string,
        readonly checkout: string,
    ) {}

    static async make({ folder, setuptools }: typeof pth): Promise<Extraction> {
        const workspace = await Workspace.make();
        const [adopt, checkout] = [join(workspace.host, "ml-env"), join(workspace.host, "sglang/python")];
        cpSync(join(project, "test/standin/src/sglang"), join(checkout, folder, "sglang"), { recursive: true });
        const build = '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"';
        const about = '[project]\nname = "sglang"\nversion = "0.5.23"\ndependencies = ["pybase64"]';
        writeFileSync(join(checkout, "pyproject.toml"), `${build}\n${about}\n[tool.setuptools]\n${setuptools}\n`);
        const pip = ["pip", "install", "--quiet", "--python", join(adopt, "bin/python")];
        execFileSync("uv", ["venv", "--quiet", "--python", "3.11", adopt]);
        execFileSync("uv", [...pip, "setuptools>=77"]);
        execFileSync("uv", [...pip, "--no-index", "--find-links", standinWheels(workspace), "pybase64"]);
        execFileSync("uv", [...pip, "--no-build-isolation", "--no-deps", "--editable", checkout]);
        return new Extraction(workspace, await freePort(), adopt, checkout);
    }

    describe(wishes: Partial<Wishes> = {}): void {
        const { workspace, port, adopt } = this;
        describeFleet(workspace, { port, adopt, service: { workingDirectory: workspace.host }, ...wishes });
    }

    /** The one patched file of the one release. */
    get file(): string {
        const [release = ""] = releases(this.workspace);
        return join(rootOf(this.workspace), "venvs/tiny/releases", release, "src/0/sglang/srt/answer.py");
    }

    async patched(): Promise<unknown> {
        return (await this.workspace.stackOutputs()).patched;
    }
}

const asDeclared = (file: string): unknown => ({
    here: { chat: { "sglang.srt.answer": { file, content: "as declared", newer: true } } },
});

for (const [by, layout] of Object.entries({ "a .pth file": pth, "a setuptools finder": finder })) {
    it(`a source tree that is installed editable by ${by} is patched in the file that the service imports, and nowhere else`, async () => {
        const on = await Extraction.make(layout);
        try {
            const untouched = [tree(on.adopt), tree(on.checkout)];
            on.describe();
            expectExit(await on.workspace.up());
            assert.equal(await completion(on.port), "Lyon.");
            assert.match(readFileSync(on.file, "utf8"), /^TEXT = "Lyon\."$/m);
            assert.deepEqual(await on.patched(), asDeclared(on.file));
            assert.deepEqual([tree(on.adopt), tree(on.checkout)], untouched);
            expectExit(await on.workspace.pulumi("preview", "--expect-no-changes"));
            expectExit(await on.workspace.destroy());
        } finally {
            await on.workspace.close();
        }
    });
}

describe("is the file that was edited the file that runs?", () => {
    let on: Extraction;

    before(async () => {
        on = await Extraction.make(finder);
        on.describe();
        expectExit(await on.workspace.up());
    });
    after(() => on.workspace.close());

    it("a preview and a refresh say so of a file that was edited under the process", async () => {
        const { file } = on;
        const text = readFileSync(file, "utf8");
        rmSync(file);
        writeFileSync(file, `${text}\nTEXT = "Rome."\n`);
        const { output } = expectExit(await on.workspace.pulumi("preview"));
        assert.ok(
            output.includes(
                `sglang.srt.answer is ${file}: it differs from what is declared, the process is older than it`,
            ),
            output,
        );
        expectExit(await on.workspace.pulumi("refresh", "--yes", "--skip-preview"));
        assert.deepEqual((await on.workspace.resources())["here-chat"]?.outputs.patched, {
            "sglang.srt.answer": { file, content: "differs", newer: false },
        });
        assert.equal(await completion(on.port), "Lyon.");
    });

    it("up gives the file back, restarts what was older, and says so", async () => {
        const old = server(on.workspace);
        expectExit(await on.workspace.up());
        assert.notEqual(server(on.workspace), old);
        assert.equal(await completion(on.port), "Lyon.");
        assert.deepEqual(await on.patched(), asDeclared(on.file));
    });

    it("an edit of the checkout does not reach what runs, and a preview says that the base has changed", async () => {
        const pid = server(on.workspace);
        appendFileSync(join(on.checkout, "sglang/srt/server_args.py"), "\n# edited\n");
        const { output } = expectExit(await on.workspace.pulumi("preview"));
        assert.match(
            output,
            /here-tiny: \S+ml-env was changed on the host: 0 packages, 1 file\n\s+\S+\/sglang\/python\/sglang\/srt\/server_args\.py/,
        );
        assert.equal(server(on.workspace), pid);
    });

    it("another copy on PYTHONPATH is refused with both, and what runs goes on", async () => {
        const [pid, other] = [server(on.workspace), join(on.workspace.host, "other")];
        cpSync(join(on.checkout, "sglang"), join(other, "sglang"), { recursive: true });
        on.describe({ env: { PYTHONPATH: other } });
        const { code, output } = await on.workspace.up();
        assert.notEqual(code, 0);
        assert.ok(
            output.includes(`sglang.srt.answer is imported from ${other}/sglang/srt/answer.py, outside the release`),
        );
        assert.match(output, /it hides \S+\/releases\/\w+\/src\/0\/sglang\/__init__\.py/);
        assert.equal(server(on.workspace), pid);
    });
});

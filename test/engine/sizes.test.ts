import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { answerModule, describeFleet, expectExit, freePort, project, rootOf, Workspace } from "./harness";

/** What is large must not go through the engine, nor into its state. */
describe("large inputs", () => {
    let workspace: Workspace;
    const at = () => `connection: { name: "here", type: "local" as const }, root: ${JSON.stringify(rootOf(workspace))}`;
    const program = (...lines: string[]) =>
        workspace.write(
            "index.ts",
            [
                `import * as pulumi from "@pulumi/pulumi";`,
                `import { PackageOverlay, SourcePatch } from "./components";`,
                ...lines,
            ].join("\n"),
        );
    const stateSize = () => {
        const folder = join(workspace.folder, "state/.pulumi/stacks/sglang-fleet");
        return Math.max(...readdirSync(folder).map((name) => statSync(join(folder, name)).size));
    };

    before(async () => {
        workspace = await Workspace.make();
        workspace.fleet({ hosts: {} });
    });
    after(() => workspace.close());

    it("12 MB of patches are staged, and the state holds their hashes", async () => {
        const names = Array.from({ length: 12 }, (_, at) => `large_${at}`);
        for (const name of names) {
            workspace.write(`patches/${name}.py`, `TEXT = """${`${name} `.repeat(1 << 20).slice(0, 1 << 20)}"""\n`);
        }
        const patches = names.map(
            (name) => `{ path: "${name}.py", file: new pulumi.asset.FileAsset("patches/${name}.py") }`,
        );
        program(`new SourcePatch("patches", { ${at()}, venv: "v", patches: [${patches.join()}] });`);
        const { output } = expectExit(await workspace.pulumi("preview", "--diff"));
        assert.ok(output.length < 100_000, `${output.length} characters are said`);
        expectExit(await workspace.up());
        expectExit(await workspace.pulumi("preview", "--expect-no-changes"));
        assert.ok(stateSize() < 50_000, `${stateSize()} bytes of state`);
        const store = readdirSync(join(rootOf(workspace), "store"), { recursive: true, withFileTypes: true });
        assert.equal(store.filter((entry) => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name)).length, names.length);
    });

    it("a directory of 60,000 files is staged as an overlay, and the state holds one line of it", async () => {
        const top = join(workspace.folder, "tree");
        for (let folder = 0; folder < 60; folder++) {
            const path = join(top, "large", `part_${folder}`);
            mkdirSync(path, { recursive: true });
            for (let file = 0; file < 1000; file++) {
                writeFileSync(join(path, `module_${file}.py`), `N = ${folder * 1000 + file}\n`);
            }
        }
        const info = join(top, "large-1.0.dist-info");
        mkdirSync(info);
        writeFileSync(join(info, "METADATA"), "Metadata-Version: 2.1\nName: large\nVersion: 1.0\n");
        program(
            `new PackageOverlay("overlay", { ${at()}, venv: "v", overlays: [{ packages: ["large"], from: { directory: ${JSON.stringify(top)} } }] });`,
        );
        expectExit(await workspace.up());
        expectExit(await workspace.pulumi("preview", "--expect-no-changes"));
        assert.ok(stateSize() < 50_000, `${stateSize()} bytes of state`);
        const [tree = ""] = readdirSync(join(rootOf(workspace), "trees"));
        const last = join(rootOf(workspace), "trees", tree, "site/large/part_59/module_999.py");
        assert.equal(readFileSync(last, "utf8"), "N = 59999\n");
        expectExit(await workspace.destroy());
    });

    it("2 MB of noise on a host's streams are passed over, and 2 MB of a server's log come as their last lines", async () => {
        const port = await freePort();
        const python = join(workspace.folder, "noisy-python3");
        const noise = `head -c 2000000 /dev/zero | tr '\\0' n >&2`;
        writeFileSync(python, `#!/bin/sh\n${noise}\nexec python3 "$@"\n`, { mode: 0o755 });
        workspace.write("index.ts", readFileSync(join(project, "index.ts"), "utf8"));
        const flood = 'import sys; sys.stderr.write("log line\\n" * 220_000)';
        const module = answerModule("Lyon.", flood, 'os.environ["STANDIN_NEVER_READY"] = "1"');
        const service = { ready: { timeout: "5s", stable: "1s" } };
        describeFleet(workspace, { port, module, service, connection: { python } });
        const { output } = expectExit(await workspace.up(), 1);
        assert.match(output, /not ready within 5 s/);
        assert.match(output, /\| log line/);
        assert.ok(output.length < 100_000, `${output.length} characters are said`);
        assert.ok(stateSize() < 100_000, `${stateSize()} bytes of state`);
        expectExit(await workspace.destroy());
    });
});

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { asset, type Provider, refused, type Values } from "./harness";
import { start } from "./serve";

describe("on this machine, by the real agent", () => {
    let folder: string;
    let plugin: Provider;
    let here: Values;
    before(async () => {
        folder = await mkdtemp(join(tmpdir(), "plugin-"));
        plugin = await start();
        await plugin.handshake();
        here = { connection: { name: "here", type: "local" }, root: join(folder, "fleet") };
    });
    after(async () => {
        await plugin.stop();
        await rm(folder, { recursive: true });
    });

    test("a patch of 12 MB is staged, read back, and leaves a small state", async () => {
        const body = `${"x = 1  # long\n".repeat(900_000)}`;
        const path = join(folder, "big.py");
        await writeFile(path, body);
        const file = asset({ path, hash: createHash("sha256").update(body).digest("hex") });
        const { inputs } = await plugin.check("SourcePatch", {
            ...here,
            venv: "v",
            patches: [{ path: "big.py", file }],
        });
        const { id, state } = await plugin.create("SourcePatch", inputs);
        assert.deepEqual((await plugin.read("SourcePatch", id, state, inputs)).state, state);
        assert.ok(JSON.stringify({ state, inputs }).length < 2000);
        await plugin.delete("SourcePatch", id, state, inputs);
    });

    test("a text asset of 5 MB travels", async () => {
        const body = "y".repeat(5 << 20);
        const file = asset({ text: body, hash: createHash("sha256").update(body).digest("hex") });
        const { inputs } = await plugin.check("SourcePatch", {
            ...here,
            venv: "v",
            patches: [{ path: "big.py", file }],
        });
        const { id, state } = await plugin.create("SourcePatch", inputs);
        await plugin.delete("SourcePatch", id, state, inputs);
    });

    test("a file that was changed since it was hashed is refused, and nothing is staged", async () => {
        const path = join(folder, "changing.py");
        await writeFile(path, "a");
        const { inputs } = await plugin.check("SourcePatch", {
            ...here,
            venv: "w",
            patches: [{ path: "c.py", file: asset({ path, hash: "1".repeat(64) }) }],
        });
        const { message } = await refused(plugin.create("SourcePatch", inputs));
        assert.equal(message, `${path} was changed while this run was at work\nTo mend it: run it again.`);
        assert.equal((await plugin.read("SourcePatch", "here/patch/w", { owner: "o" }, inputs)).id, "");
    });

    test("a directory of thousands of files is laid down as an overlay and found again", async () => {
        const top = join(folder, "tree/pkg");
        await mkdir(top, { recursive: true });
        for (let at = 0; at < 3000; at++) {
            await writeFile(join(top, `m${at}.py`), `x = ${at % 100}\n`);
        }
        const overlays = [{ packages: ["pkg"], from: { directory: join(folder, "tree"), version: "1.2" } }];
        const { inputs, failures } = await plugin.check("PackageOverlay", { ...here, venv: "v", overlays });
        assert.deepEqual(failures, []);
        const { id, state } = await plugin.create("PackageOverlay", inputs);
        assert.match(String((state.packages as Values).pkg), /^1\.2 [0-9a-f]{12}$/);
        const read = await plugin.read("PackageOverlay", id, state, inputs);
        assert.deepEqual(read.state, state);
        assert.deepEqual((await plugin.diff("PackageOverlay", read.state, inputs, inputs)).paths, {});
        await plugin.delete("PackageOverlay", id, state, inputs);
        assert.equal((await plugin.read("PackageOverlay", id, state, inputs)).id, "");
    });

    test("a venv whose first making fails in a gate leaves nothing once it is deleted", async () => {
        const base = join(folder, "base");
        execFileSync("python3", ["-m", "venv", "--without-pip", base]);
        const [site] = globSync(join(base, "lib/python3*/site-packages"));
        await writeFile(join(site, "mod.py"), "x = 1\n");
        const before = execFileSync("find", [base, "-printf", "%p %s %T@ %n\n"]).toString();
        const body = "x = (\n";
        const file = asset({ text: body, hash: createHash("sha256").update(body).digest("hex") });
        const { inputs: patched } = await plugin.check("SourcePatch", {
            ...here,
            venv: "bad",
            patches: [{ module: "mod", file }],
        });
        const patch = await plugin.create("SourcePatch", patched);
        const { inputs } = await plugin.check("Venv", {
            ...here,
            name: "bad",
            base: { adopt: base },
            patches: patch.state.digest,
        });
        const { message, left } = await refused(plugin.create("Venv", inputs));
        assert.match(message, /^here \(local\): gate compile: .*mod\.py, line 1: SyntaxError/);
        assert.equal(left?.properties.release, "");
        await plugin.delete("Venv", "here/venv/bad", left.properties, inputs);
        await plugin.delete("SourcePatch", patch.id, patch.state, patched);
        assert.equal(existsSync(join(folder, "fleet")), false);
        assert.equal(execFileSync("find", [base, "-printf", "%p %s %T@ %n\n"]).toString(), before);
    });

    test("variables are staged byte for byte", async () => {
        const variables = {
            A: "k\\1$HOME\"q'#;",
            B: " blank ",
            C: "=a=b",
            D: "two\nlines",
            E: "\ttab",
            F: "é✓",
            G: "",
            H: "x".repeat(20_000),
            I: "%h",
        };
        const { inputs } = await plugin.check("EnvVars", { ...here, service: "s", variables });
        const { id, state } = await plugin.create("EnvVars", inputs);
        assert.deepEqual((await plugin.read("EnvVars", id, state, inputs)).state.variables, variables);
        await plugin.delete("EnvVars", id, state, inputs);
    });
});

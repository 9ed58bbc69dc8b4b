import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { asset, type Provider, refused, type Values } from "./harness";
import { start, TOP } from "./serve";

describe("the plugin as a process", () => {
    let folder: string;
    before(async () => {
        folder = await mkdtemp(join(tmpdir(), "plugin-"));
    });
    after(() => rm(folder, { recursive: true }));

    test("says nothing but its port on stdout, whatever libraries print", async () => {
        const noisy = join(folder, "noisy.js");
        await writeFile(
            noisy,
            `console.log("a library says hello"); process.stdout.write("7\\n"); setTimeout(() => console.log("late"), 300).unref();`,
        );
        const plugin = await start({ NODE_OPTIONS: `--require ${noisy}`, DEBUG: "*", GRPC_TRACE: "all" });
        try {
            const { failures } = await plugin.check("EnvVars", {
                connection: { name: "a" },
                root: "/r",
                service: "s",
                variables: {},
            });
            assert.deepEqual(failures, []);
        } finally {
            await plugin.stop();
        }
    });

    test("answers the engine's first questions: secrets in envelopes, previews, a schema for import", async () => {
        const plugin = await start();
        try {
            assert.equal((await plugin.handshake()).getAcceptSecrets(), true);
            const configured = await plugin.configure();
            assert.deepEqual([configured.getAcceptsecrets(), configured.getSupportspreview()], [true, true]);
            const { name, resources } = await plugin.schema();
            assert.equal(name, "sglang");
            assert.deepEqual(
                Object.keys(resources as Values).sort(),
                ["EnvVars", "PackageOverlay", "SglangService", "SourcePatch", "Venv"].map(
                    (type) => `sglang:index:${type}`,
                ),
            );
            assert.equal(
                (await refused(plugin.check("Host", {}))).message.startsWith(
                    "no such resource type: sglang:index:Host; there are sglang:index:PackageOverlay",
                ),
                true,
            );
        } finally {
            await plugin.stop();
        }
    });

    test("a host whose port is closed is unreached: the state stays, the cause is named", async () => {
        const plugin = await start();
        try {
            await plugin.handshake();
            const connection = { name: "dead", host: "127.0.0.1", port: 1, sshConfig: "none", connectTimeout: 5 };
            const { inputs } = await plugin.check("EnvVars", {
                connection,
                root: "/r",
                service: "s",
                variables: { A: "1" },
            });
            const state = { owner: "o", machine: "m", root: "/r", service: "s", variables: { A: "1" }, digest: "d" };
            const read = await plugin.read("EnvVars", "dead/env/s", state, inputs);
            assert.deepEqual(read, { id: "dead/env/s", state, inputs, refresh: true });
            const [{ host, message }] = await plugin.unreached();
            assert.equal(host.startsWith("dead"), true);
            assert.match(message, /refused/);
        } finally {
            await plugin.stop();
        }
    });

    test("ends by itself when the engine is gone", async () => {
        const child = spawn(
            "/bin/sh",
            ["-c", `"${TOP}/provider/pulumi-resource-sglang" 127.0.0.1:1 & echo $!; read line`],
            { stdio: ["pipe", "pipe", "ignore"] },
        );
        const printed = await new Promise<string>((resolve) => {
            let text = "";
            child.stdout.on("data", (part) => {
                text += String(part);
                if (text.split("\n").length > 2) {
                    resolve(text);
                }
            });
        });
        const pid = Number(printed.split("\n").find((line) => Number(line) === Number.parseInt(line, 10)));
        child.kill("SIGKILL");
        await until(() => !alive(pid));
    });

    test("is not the compiled one when a source is newer, also behind a link", async () => {
        const clone = join(folder, "clone");
        await mkdir(join(clone, "provider"), { recursive: true });
        await mkdir(join(clone, "dist/provider"), { recursive: true });
        await copyFile(join(TOP, "provider/pulumi-resource-sglang"), join(clone, "provider/pulumi-resource-sglang"));
        await symlink(join(TOP, "node_modules"), join(clone, "node_modules"));
        await writeFile(join(clone, "tsconfig.json"), "{}");
        await writeFile(join(clone, "dist/provider/index.js"), 'require("node:fs").writeSync(3, "compiled\\n");');
        await writeFile(join(clone, "provider/index.ts"), 'require("node:fs").writeSync(3, "source\\n");');
        await mkdir(join(folder, "elsewhere"));
        await symlink(join(clone, "provider"), join(folder, "elsewhere/provider"));
        const run = (path: string): Promise<string> =>
            new Promise((resolve) => {
                const child = spawn(path, [], { stdio: ["ignore", "pipe", "ignore"] });
                child.stdout.on("data", (part) => resolve(String(part).trim()));
            });
        const old = new Date(Date.now() - 60_000);
        for (const path of [
            join(clone, "provider/pulumi-resource-sglang"),
            join(folder, "elsewhere/provider/pulumi-resource-sglang"),
        ]) {
            await utimes(join(clone, "dist/provider/index.js"), old, old);
            assert.equal(await run(path), "source");
            await utimes(join(clone, "dist/provider/index.js"), new Date(), new Date());
            assert.equal(await run(path), "compiled");
        }
    });
});

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

function alive(pid: number): boolean {
    try {
        process.kill(pid, 0);
        return true;
    } catch {
        return false;
    }
}

async function until(done: () => boolean): Promise<void> {
    for (const started = Date.now(); !done(); ) {
        if (Date.now() - started > 10_000) {
            throw new Error("it did not happen within 10 s");
        }
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
}

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { refused, type Values } from "./harness";
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

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { describeFleet, expectExit, freePort, rootOf, server, Workspace } from "./harness";

const token = "hf_s3cr3t-to-import";

/** A whole host whose state is lost, and what an import by id makes of it. */
describe("import of each of the five resources", () => {
    let workspace: Workspace;
    let port: number;
    let pid: number;
    const ids: Record<string, string> = {
        PackageOverlay: "here/overlay/tiny",
        SourcePatch: "here/patch/tiny",
        Venv: "here/venv/tiny",
        EnvVars: "here/env/chat",
        SglangService: "here/service/chat",
    };

    before(async () => {
        workspace = await Workspace.make();
        port = await freePort();
        await workspace.secret("hfToken", token);
        describeFleet(workspace, { port, env: { HF_TOKEN: { secret: "hfToken" } } });
        expectExit(await workspace.up());
        pid = server(workspace);
        workspace.write("lost-state.json", JSON.stringify({ version: 3, deployment: {} }));
        expectExit(await workspace.pulumi("stack", "import", "--file", "lost-state.json"));
        workspace.write(
            "inventory.json",
            JSON.stringify({ here: { connection: { type: "local" }, root: rootOf(workspace) } }),
        );
        workspace.set({ SGLANG_FLEET_INVENTORY: join(workspace.folder, "inventory.json") });
    });
    after(() => workspace.close());

    it("gives inputs that could stand in code, with every variable sealed", async () => {
        const resources = Object.entries(ids).map(([type, id]) => ({ type: `sglang:index:${type}`, name: type, id }));
        workspace.write("import.json", JSON.stringify({ resources }));
        const args = ["--file", "import.json", "--yes", "--skip-preview", "--generate-code=false", "--protect=false"];
        expectExit(await workspace.pulumi("import", ...args));
        const kept = await workspace.resources();
        const inputs = (type: string) => kept[type]?.inputs as Record<string, never>;
        assert.deepEqual(inputs("PackageOverlay").overlays, [
            { packages: ["sgl-kernel"], from: { wheel: "wheels/sgl_kernel-0.4.0+standin-py3-none-any.whl" } },
        ]);
        const [patch] = inputs("SourcePatch").patches as unknown as { module: string; diff: { text: string } }[];
        assert.equal(patch?.module, "sglang.srt.answer");
        assert.equal(patch?.diff.text, readFileSync(join(workspace.folder, "patches/answer.diff"), "utf8"));
        const base = inputs("Venv").base as { python: string; requirements: { text: string } };
        assert.deepEqual(
            [base.python, base.requirements.text],
            ["3.11", readFileSync(join(workspace.folder, "locks/standin.txt"), "utf8")],
        );
        const variables = inputs("EnvVars").variables as Record<string, { ciphertext?: string }>;
        assert.deepEqual(
            Object.entries(variables).map(([name, value]) => [name, typeof value.ciphertext]),
            [
                ["GREETING", "string"],
                ["HF_TOKEN", "string"],
            ],
        );
        const { venv, model, release } = inputs("SglangService") as Record<string, unknown>;
        assert.deepEqual([venv, model, release], ["tiny", join(workspace.folder, "model"), kept.Venv?.outputs.release]);
        assert.deepEqual(workspace.filesWith(token), []);
        assert.equal(workspace.outputs.join().includes(token), false);
    });

    it("and a program that declares them finds nothing to do, nor does it restart the server", async () => {
        const root = rootOf(workspace);
        workspace.write(
            "index.ts",
            `import * as pulumi from "@pulumi/pulumi";
            import { EnvVars, PackageOverlay, SglangService, SourcePatch, Venv } from "./components";
            const config = new pulumi.Config("sglang-fleet");
            const at = { connection: { name: "here", type: "local" as const }, root: ${JSON.stringify(root)} };
            const python = "3.11";
            const overlay = new PackageOverlay("PackageOverlay", { ...at, venv: "tiny", base: { python }, overlays: [
                { from: { wheel: new pulumi.asset.FileAsset("wheels/sgl_kernel-0.4.0+standin-py3-none-any.whl") } } ] });
            const patch = new SourcePatch("SourcePatch", { ...at, venv: "tiny", patches: [
                { module: "sglang.srt.answer", diff: new pulumi.asset.FileAsset("patches/answer.diff") } ] });
            const requirements = new pulumi.asset.FileAsset("locks/standin.txt");
            const venv = new Venv("Venv", { ...at, name: "tiny", base: { python, requirements, findLinks: [${JSON.stringify(join(workspace.folder, "wheels"))}] },
                overlays: overlay.digest, packages: overlay.packages, patches: patch.digest, files: patch.files });
            const env = new EnvVars("EnvVars", { ...at, service: "chat",
                variables: { GREETING: "hello", HF_TOKEN: config.requireSecret("hfToken") } });
            new SglangService("SglangService", { ...at, name: "chat", venv: "tiny", release: venv.release, env: env.digest,
                model: ${JSON.stringify(join(workspace.folder, "model"))}, port: ${port}, supervisor: "process", stopTimeout: 10,
                gates: { imports: ["sgl_kernel"] }, ready: { timeout: 60, stable: 1 } });`,
        );
        expectExit(await workspace.pulumi("preview", "--diff", "--expect-no-changes"));
        expectExit(await workspace.up());
        assert.equal(server(workspace), pid);
        expectExit(await workspace.destroy());
    });
});

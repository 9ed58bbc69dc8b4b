import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { expectExit, rootOf, Workspace } from "./harness";

/** Values that another resource makes are not there in a preview. Each test goes on where the one before ended. */
describe("inputs that are known only during up", () => {
    let workspace: Workspace;
    const declare = (lines: string) =>
        workspace.write(
            "index.ts",
            `import * as pulumi from "@pulumi/pulumi";
            import { EnvVars, SourcePatch } from "./components";
            /** Of a resource that is still to be made: nothing in a preview, the value during up. */
            function later<T>(value: T): pulumi.Output<T> {
                const known = !pulumi.runtime.isDryRun();
                return new (pulumi.Output as any)(new Set(), Promise.resolve(known ? value : undefined),
                    Promise.resolve(known), Promise.resolve(false), Promise.resolve(new Set()));
            }
            const root = ${JSON.stringify(rootOf(workspace))};
            ${lines}`,
        );
    const variables = () => {
        const json = (name: string) => JSON.parse(readFileSync(join(rootOf(workspace), "services/s", name), "utf8"));
        return (json(`env-${json("env.json").id}.json`) as { variables: object }).variables;
    };

    before(async () => {
        workspace = await Workspace.make();
        workspace.fleet({ hosts: {} });
    });
    after(() => workspace.close());

    it("an address, a variable and an element of a list: preview says so and contacts nobody, up makes all in one go", async () => {
        declare(`
            new EnvVars("env", { connection: { name: "here", type: later("local" as const), host: later("placeholder.invalid") },
                root, service: "s", variables: { A: "1" } });
            new EnvVars("other", { connection: { name: "here", type: "local" }, root, service: "t",
                variables: { A: "1", B: later("b") } });
            new SourcePatch("patch", { connection: { name: "here", type: "local" }, root, venv: "v",
                patches: [{ path: later("x.py"), file: new pulumi.asset.StringAsset("X = 1\\n") }] });`);
        const { changes, messages } = await workspace.plan();
        assert.deepEqual([changes.env, changes.other, changes.patch], ["create", "create", "create"]);
        const said = messages.join("\n");
        assert.match(said, /Planned after the host is known: connection\.host, connection\.type\./);
        assert.match(said, /Planned in full after these are known: variables\.B\./);
        assert.match(said, /Planned in full after these are known: patches\[0\]\.path\./);
        assert.doesNotMatch(said, /placeholder|04da6b54/);
        assert.equal(existsSync(rootOf(workspace)), false);
        expectExit(await workspace.up());
        assert.deepEqual(variables(), { A: "1" });
    });

    it("one variable of an environment that is there already is an update of it, and of nothing else", async () => {
        declare(`
            new EnvVars("env", { connection: { name: "here", type: "local" }, root, service: "s",
                variables: { A: "1", B: later("b") } });`);
        const { changes, paths } = await workspace.plan("--target", "**::env");
        assert.equal(changes.env, "update");
        assert.deepEqual(paths.env, ["digest", 'variables["B"]']);
        expectExit(await workspace.up());
        assert.deepEqual(variables(), { A: "1", B: "b" });
        expectExit(await workspace.destroy());
    });
});

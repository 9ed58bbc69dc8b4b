import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { expectExit, processesOf, tree, Workspace } from "./harness";

const PROGRAM = `
import * as pulumi from "@pulumi/pulumi";
const config = new pulumi.Config();
export const fleet = config.requireObject("fleet");
export const token = config.requireSecret("token");
`;

it("a workspace runs a program with its own config, keeps secrets sealed, and is gone at the end", async () => {
    const workspace = await Workspace.make();
    try {
        workspace.write("index.ts", PROGRAM);
        await workspace.secret("token", "s3cr3t-token");
        workspace.fleet({ hosts: { here: {} } });
        assert.deepEqual((await workspace.plan()).changes, { "sglang-fleet-t": "create" });
        expectExit(await workspace.up());
        assert.deepEqual((await workspace.stackOutputs()).fleet, { hosts: { here: {} } });
        assert.deepEqual(workspace.filesWith("s3cr3t-token"), []);
        assert.equal(workspace.outputs.join("").includes("s3cr3t-token"), false);
        expectExit(await workspace.destroy());
    } finally {
        await workspace.close();
    }
    assert.equal(existsSync(workspace.folder), false);
    assert.deepEqual(processesOf(workspace.folder), []);
});

it("a tree tells a rewritten file from an untouched one", async () => {
    const workspace = await Workspace.make();
    try {
        workspace.write("host/a/b", "same");
        const [all, content] = [tree(workspace.host), tree(workspace.host, "content")];
        assert.deepEqual(tree(workspace.host), all);
        writeFileSync(join(workspace.host, "a/b"), "same");
        assert.notDeepEqual(tree(workspace.host), all);
        assert.deepEqual(tree(workspace.host, "content"), content);
    } finally {
        await workspace.close();
    }
});

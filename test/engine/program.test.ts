import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, it } from "node:test";
import { Workspace } from "./harness";

/** What the program itself shows of a config, by the real engine. */
let workspace: Workspace;
before(async () => {
    workspace = await Workspace.make();
});
after(() => workspace.close());

/** The errors of a preview that fails, without the engine's own words around them. */
async function errorsOf(fleet: unknown): Promise<string> {
    workspace.fleet(fleet);
    const { code, output } = await workspace.pulumi("preview");
    assert.equal(code, 1, output);
    assert.doesNotMatch(output, /\bat .*\.[jt]s:\d+/, "no stack trace");
    return output;
}

it("everything that is wrong with a config is said at once, by path", async () => {
    const output = await errorsOf({ hosts: { here: { connection: { tipe: "local" }, services: ["chat"] } } });
    assert.match(
        output,
        /sglang-fleet:fleet has 2 errors:\n\s+fleet\.hosts\.here\.connection: unknown key `tipe`; did you mean `type`\?\n\s+fleet\.hosts\.here\.services\[0\]: no service is named `chat`\n/,
    );
});

it("a secret inside the structured key is refused before any of it can land in the state as text", async () => {
    workspace.fleet({ hosts: {} });
    await workspace.pulumi(
        "config",
        "set",
        "--secret",
        "--path",
        "sglang-fleet:fleet.services.s.env.TOKEN",
        "s3cr3t-inside",
    );
    const { code, output } = await workspace.pulumi("preview");
    assert.equal(code, 1, output);
    assert.match(output, /fleet: has an encrypted value inside it; keep secrets in keys of their own/);
    assert.deepEqual(workspace.filesWith("s3cr3t-inside"), []);
    workspace.write("Pulumi.t.yaml", "config: {}\n");
});

it("a stack without the key is told its name", async () => {
    const { code, output } = await workspace.pulumi("preview");
    assert.notEqual(code, 0);
    assert.match(output, /missing configuration value 'sglang-fleet:fleet'/);
});

it("a host that cannot be reached is an error on its own row; the others show theirs", async () => {
    workspace.write("lock.txt", "");
    const venvs = { v: { base: { python: "3.11", requirements: "lock.txt" } } };
    const far = { connection: { host: "127.0.0.1", port: 1, connectTimeout: 5 }, venvs: ["v"] };
    const here = { connection: { type: "local" }, root: join(workspace.host, "fleet"), venvs: ["v"] };
    const output = await errorsOf({ venvs, hosts: { far, here } });
    assert.match(output, /sglang:index:GpuHost \(far\):\n\s+error: far \(127\.0\.0\.1\): .*Connection refused/);
    assert.match(output, /sglang:index:Venv here-v create/);
    assert.doesNotMatch(output, /sglang:index:GpuHost \(here\)/);
});

it("when a canary fails, the hosts behind it are not touched, also where others shall go on", async () => {
    workspace.write("lock.txt", "--no-index\nthere-is-no-such-package==1\n");
    const host = (name: string) => ({ connection: { type: "local" }, root: join(workspace.host, name), venvs: ["v"] });
    const venvs = { v: { base: { python: "3.11", requirements: "lock.txt" } } };
    workspace.fleet({
        venvs,
        hosts: { others: host("others"), canary: host("canary") },
        rollout: { canary: ["canary"] },
    });
    const { code, output } = await workspace.up("--continue-on-error");
    assert.equal(code, 1, output);
    assert.match(output, /Venv canary-v \*\*creating failed\*\*/);
    assert.deepEqual(
        Object.keys(await workspace.resources()).filter((name) => name.startsWith("others-")),
        [],
    );
    assert.equal(existsSync(join(workspace.host, "others")), false);
});

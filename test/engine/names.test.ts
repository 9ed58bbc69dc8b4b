import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { expectExit, rootOf, Workspace } from "./harness";

/** Names in the program and things on the host: what belongs to whom, however it is called. Each test goes on where the one before ended. */
describe("an environment on a local host", () => {
    let workspace: Workspace;
    const folder = () => join(rootOf(workspace), "services/chat");
    const json = (name: string) => JSON.parse(readFileSync(join(folder(), name), "utf8")) as Record<string, unknown>;
    const staged = () => join(folder(), `env-${json("env.json").id}.json`);
    const variables = () => json(`env-${json("env.json").id}.json`).variables;

    /** A program of one environment. `options`: text of its resource options; `group`: whether it stands in a component. */
    const declare = ({ name = "here-env", options = "", group = false, takeOver = false, value = "1" } = {}) =>
        workspace.write(
            "index.ts",
            `import * as pulumi from "@pulumi/pulumi";
            import { EnvVars } from "./components";
            class Group extends pulumi.ComponentResource {
                constructor(name: string) { super("test:index:Group", name); }
            }
            const parent = ${group ? 'new Group("group")' : "undefined"};
            const token = pulumi.secret("hf_s3cr3t-token");
            new EnvVars(${JSON.stringify(name)}, {
                connection: { name: "here", type: "local" }, root: ${JSON.stringify(rootOf(workspace))},
                service: "chat", variables: { A: ${JSON.stringify(value)}, TOKEN: token }, takeOver: ${takeOver},
            }, { parent, ${options} });`,
        );
    const other = (...args: string[]) => workspace.pulumi(...args, "--stack", "other");

    before(async () => {
        workspace = await Workspace.make();
        workspace.fleet({ hosts: {} });
        declare();
        expectExit(await workspace.up());
    });
    after(() => workspace.close());

    it("that another stack wants as well is refused in its preview, with the name of the first", async () => {
        expectExit(await workspace.pulumi("stack", "init", "other"));
        const config = join(workspace.folder, "Pulumi.other.yaml");
        workspace.write(
            "Pulumi.other.yaml",
            `${readFileSync(config, "utf8")}\nconfig: { "sglang-fleet:fleet": { hosts: {} } }\n`,
        );
        for (const command of ["preview", "up"]) {
            const { code, output } = await other(command, ...(command === "up" ? ["--yes", "--skip-preview"] : []));
            assert.equal(code, 1, output);
            assert.match(
                output,
                /env chat below \S+ belongs to urn:pulumi:t::sglang-fleet::sglang:index:EnvVars::here-env\n/,
            );
            assert.match(output, /To mend it: choose another name or root, or set `takeOver: true`/);
        }
    });

    it("shows in a refresh as it is on the host, its secrets still sealed, and is put right by up", async () => {
        const path = staged();
        writeFileSync(
            path,
            readFileSync(path, "utf8").replace('"1"', '"by hand"').replace("s3cr3t-token", "edited-token"),
        );
        expectExit(await workspace.pulumi("refresh", "--yes", "--skip-preview"));
        const outputs = (await workspace.resources())["here-env"]?.outputs as { variables: Record<string, unknown> };
        assert.equal(outputs.variables.A, "by hand");
        assert.equal(typeof (outputs.variables.TOKEN as { ciphertext: string }).ciphertext, "string");
        const preview = await workspace.pulumi("preview", "--diff");
        assert.match(preview.output, /A\s*: "by hand" => "1"/);
        expectExit(await workspace.up());
        assert.deepEqual(variables(), { A: "1", TOKEN: "hf_s3cr3t-token" });
        for (const secret of ["s3cr3t-token", "edited-token"]) {
            assert.equal(workspace.outputs.join().includes(secret), false);
            assert.deepEqual(workspace.filesWith(secret), []);
        }
    });

    it("is kept when its resource is renamed without an alias, and preview says so", async () => {
        declare({ name: "here-renamed" });
        const { changes, messages } = await workspace.plan();
        assert.deepEqual(changes, { "here-renamed": "create", "here-env": "delete" });
        assert.match(
            messages.join("\n"),
            /env chat below \S+ is there already: it was made as \S+::here-env, and is kept/,
        );
        expectExit(await workspace.up());
        assert.deepEqual(variables(), { A: "1", TOKEN: "hf_s3cr3t-token" });
        expectExit(await workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("is kept when its resource moves into a component without an alias", async () => {
        declare({ name: "here-renamed", group: true });
        expectExit(await workspace.up());
        assert.deepEqual(variables(), { A: "1", TOKEN: "hf_s3cr3t-token" });
        expectExit(await workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("does not change at all with an alias", async () => {
        const alias = "urn:pulumi:t::sglang-fleet::test:index:Group$sglang:index:EnvVars::here-renamed";
        declare({ options: `aliases: [${JSON.stringify(alias)}]` });
        const { changes } = await workspace.plan();
        assert.deepEqual(changes["here-env"], undefined);
        expectExit(await workspace.up());
        assert.deepEqual(variables(), { A: "1", TOKEN: "hf_s3cr3t-token" });
    });

    it("is there with its new content when its resource is replaced", async () => {
        declare({ value: "2" });
        expectExit(await workspace.up("--replace", "urn:pulumi:t::sglang-fleet::sglang:index:EnvVars::here-env"));
        assert.deepEqual(variables(), { A: "2", TOKEN: "hf_s3cr3t-token" });
        expectExit(await workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("waits while another one changes the host, and says for whom", async () => {
        declare({ value: "3" });
        const lock = join(rootOf(workspace), "lock");
        const script = `import fcntl, json, os, sys, time
f = open(sys.argv[1], "r+"); fcntl.flock(f, fcntl.LOCK_EX); f.truncate()
f.write(json.dumps({"user": "ann", "host": "laptop", "pid": 7, "agent": os.getpid(), "operation": "making release 1", "since": 1.8e9})); f.flush()
print("held", flush=True); time.sleep(600)`;
        const holder = spawn("python3", ["-c", script, lock], { stdio: ["ignore", "pipe", "inherit"] });
        await new Promise((resolve) => holder.stdout.once("data", resolve));
        try {
            const up = workspace.start("up", "--yes", "--skip-preview");
            await up.said(
                /waiting up to 60 s for ann@laptop \(pid 7 there, \d+ here\), making release 1, since 2027-01-15/,
            );
            holder.kill("SIGKILL");
            expectExit(await up.ended);
        } finally {
            holder.kill("SIGKILL");
        }
        assert.deepEqual(variables(), { A: "3", TOKEN: "hf_s3cr3t-token" });
    });

    it("that somebody edits between the preview and the change of one up is not written over", async () => {
        declare({ value: "4" });
        const path = staged();
        const up = workspace.start("up", "--yes");
        const edited = readFileSync(path, "utf8").replace('"3"', '"by hand"');
        // The preview is over; the update has still to start its provider.
        await up.said(/Resources:/);
        writeFileSync(path, edited);
        const { code, output } = await up.ended;
        assert.equal(code, 1, output);
        assert.match(output, /error: here \(local\): the host was changed since the preview, and nothing was done/);
        assert.match(output, /found: another value of variables\.A\n/);
        assert.equal(readFileSync(path, "utf8"), edited);
        expectExit(await workspace.up());
        assert.deepEqual(variables(), { A: "4", TOKEN: "hf_s3cr3t-token" });
    });

    it("goes over to the other stack when that says so; the first one is told, and removes nothing of it", async () => {
        declare({ takeOver: true, value: "5" });
        const { output } = expectExit(await other("up", "--yes"));
        assert.match(output, /is taken over from urn:pulumi:t::\S+::here-env, as `takeOver` says/);
        declare();
        const preview = await workspace.pulumi("preview");
        assert.equal(preview.code, 1);
        assert.match(preview.output, /belongs to urn:pulumi:other::sglang-fleet::sglang:index:EnvVars::here-env/);
        expectExit(await workspace.destroy());
        assert.deepEqual(variables(), { A: "5", TOKEN: "hf_s3cr3t-token" });
        expectExit(await other("destroy", "--yes", "--skip-preview"));
        assert.equal(existsSync(rootOf(workspace)), false);
    });
});

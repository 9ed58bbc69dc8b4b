import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { completion, describeFleet, expectExit, freePort, processesOf, rootOf, server, Workspace } from "./harness";

/** Values that shells and unit files mangle. */
const awkward: Record<string, string> = {
    QUOTES: "k\\1$HOME\"q'#;",
    BLANKS: "  leading and trailing  ",
    EQUALS: "=a=b",
    LINES: "first\nsecond\n",
    TAB: "a\tb",
    WORDS: "grüße, 世界",
    EMPTY: "",
    LONG: "x".repeat(20_000),
    PERCENT: "%h %n %%",
};
const token = "hf_s3cr3tT0ken-of-the-test";
const apiKey = "sk-4p1K3y-of-the-test";

describe("variables and keys of a service", () => {
    let workspace: Workspace;
    let port: number;
    const fleet = (greeting: string) =>
        describeFleet(workspace, {
            port,
            env: { ...awkward, GREETING: greeting, HF_TOKEN: { secret: "hfToken" } },
            service: { apiKey: { secret: "apiKey" } },
        });

    before(async () => {
        workspace = await Workspace.make();
        port = await freePort();
        await workspace.secret("hfToken", token);
        await workspace.secret("apiKey", apiKey);
        fleet("hello");
        expectExit(await workspace.pulumi("preview", "--diff"));
        expectExit(await workspace.up());
    });
    after(() => workspace.close());

    it("arrive byte for byte", () => {
        const found = environment(server(workspace));
        for (const [name, value] of Object.entries({ ...awkward, HF_TOKEN: token })) {
            assert.equal(found[name], value, name);
        }
    });

    it("the key is asked for", async () => {
        assert.equal(await completion(port, apiKey), "Lyon.");
        await assert.rejects(completion(port), /401/);
    });

    it("a changed one shows by its name, and restarts the server with it", async () => {
        fleet("good morning");
        const preview = expectExit(await workspace.pulumi("preview", "--diff"));
        assert.match(preview.output, /GREETING\s*: "hello"\s*=> "good morning"/);
        expectExit(await workspace.up());
        assert.equal(environment(server(workspace)).GREETING, "good morning");
    });

    it("secrets are in no output, no argv, no clear state, and on the host only in files of mode 0600", async () => {
        expectExit(await workspace.pulumi("preview", "--json"));
        expectExit(await workspace.pulumi("stack", "export"));
        for (const secret of [token, apiKey]) {
            assert.equal(workspace.outputs.join("\n").includes(secret), false);
            assert.deepEqual(workspace.filesWith(secret), []);
            assert.deepEqual(
                processesOf(workspace.folder).filter(({ argv }) => argv.join(" ").includes(secret)),
                [],
            );
            assert.deepEqual(
                filesWith(rootOf(workspace), secret).filter((path) => (statSync(path).mode & 0o077) !== 0),
                [],
            );
        }
    });
});

/** Environment of a process, as the kernel has it. */
function environment(pid: number): Record<string, string> {
    const entries = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").slice(0, -1);
    return Object.fromEntries(
        entries.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]),
    );
}

/** Regular files below a folder that contain a text. */
function filesWith(folder: string, text: string): string[] {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .filter((path) => readFileSync(path).includes(text));
}

import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { answerDiff, describeFleet, expectExit, freePort, processesOf, Workspace } from "./harness";

const first = `hf_s3cr3t'T0ken"\\of-the-test`;
const second = "hf_an0ther-token-of-the-test";
const apiKey = "sk-k3y-of-the-test";
const password = "a sudo password of the test";
const logs = "/logs";

/** Secrets of a service, through every command and the engine's own most talkative log. */
describe("secrets of a stack", () => {
    let workspace: Workspace;
    let port: number;
    const watched: string[] = [];
    let watching = true;
    let watch: Promise<void>;

    const fleet = (more: { checks?: object; env?: object } = {}) =>
        describeFleet(workspace, {
            port,
            env: { HF_TOKEN: { secret: "hfToken" }, ...more.env },
            service: { apiKey: { secret: "apiKey" }, checks: more.checks ?? {} },
        });
    /** Arguments of `pulumi` that log all there is into a file of the workspace. */
    const talkative = ["-v=9", "--logflow"];
    const assertNowhere = (secrets: string[]) => {
        const said = workspace.outputs.join("\n") + watched.join("\n");
        for (const secret of secrets) {
            for (const form of [secret, JSON.stringify(secret).slice(1, -1), Buffer.from(secret).toString("base64")]) {
                assert.equal(said.includes(form), false, `said: ${form}`);
                assert.deepEqual(workspace.filesWith(form), [], form);
                assert.deepEqual(logsWith(form), [], `logged: ${form}`);
            }
        }
    };
    const logsWith = (text: string) => filesWith(join(workspace.folder, logs), text);

    before(async () => {
        workspace = await Workspace.make();
        workspace.write(`${logs}/none`, "");
        workspace.set({ TMPDIR: join(workspace.folder, logs) });
        port = await freePort();
        await workspace.secret("hfToken", first);
        await workspace.secret("apiKey", apiKey);
        await workspace.secret("becomePassword", password);
        watch = (async () => {
            while (watching) {
                const running = processesOf(workspace.folder).map(({ argv }) => argv.join(" "));
                // The test itself sets a secret on a command line.
                watched.push(...running.filter((line) => !/ config .* set /.test(line)));
                await sleep(300);
            }
        })();
    });
    after(async () => {
        watching = false;
        await watch;
        await workspace.close();
    });

    it("are nowhere to be read after a first up, in no log and no process", async () => {
        fleet();
        expectExit(await workspace.up(...talkative));
        assert.notDeepEqual(logsWith("here-chat-env"), [], "the engine has logged what it does");
        assertNowhere([first, apiKey, password]);
    });

    it("show that they changed, and nothing else", async () => {
        await workspace.secret("hfToken", second);
        const { output } = expectExit(await workspace.pulumi("preview", "--diff", ...talkative));
        assert.match(output, /HF_TOKEN: \[secret\] => \[secret\]/);
        assertNowhere([first, second]);
    });

    it("stay out of the errors that quote what runs on the host", async () => {
        const leak = `print(__import__('os').environ['HF_TOKEN'])`;
        fleet({ checks: { assert: [`__import__('builtins').exec(${JSON.stringify(leak)}) or 1 == 2`] } });
        const { output } = expectExit(await workspace.up(...talkative), 1);
        assert.match(output, /1 == 2/);
        assertNowhere([first, second, apiKey]);
    });

    it("are sealed in the state after a refresh as well", async () => {
        fleet();
        expectExit(await workspace.up());
        expectExit(await workspace.pulumi("refresh", "--yes", "--skip-preview", ...talkative));
        expectExit(await workspace.pulumi("stack", "export"));
        const kept = await workspace.resources();
        const variables = kept["here-chat-env"]?.outputs.variables as Record<string, { ciphertext?: string }>;
        assert.equal(typeof variables.HF_TOKEN?.ciphertext, "string");
        assertNowhere([first, second, apiKey]);
    });

    it("hide an account in the URL of an index and in locked requirements, but for a file of its owner", async () => {
        const account = "user:a-passw0rd-of-the-test";
        const page = createServer((_request, answer) => answer.setHeader("content-type", "text/html").end());
        await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
        const at = `${account}@127.0.0.1:${(page.address() as AddressInfo).port}`;
        const lock = (more: string) => `sglang==0.5.23+standin\n${more}# https://${at}/simple\n`;
        const program = (links: string) =>
            workspace.write(
                "index.ts",
                `import * as pulumi from "@pulumi/pulumi";
                import { readFileSync } from "node:fs";
                import { Venv } from "./components";
                const findLinks = ${JSON.stringify([join(workspace.folder, "wheels")])}.concat(${JSON.stringify(links)}.replace("ACCOUNT", readFileSync("account.txt", "utf8")));
                new Venv("indexed", { connection: { name: "here", type: "local" }, root: ${JSON.stringify(join(workspace.host, "other"))}, name: "indexed",
                    base: { python: "3.11", requirements: new pulumi.asset.FileAsset("lock.txt"), findLinks } });`,
            );
        workspace.write("account.txt", at);
        const before = workspace.outputs.length;
        const shown = () => workspace.outputs.slice(before).join("\n") + watched.join("\n");
        try {
            for (const [links, more] of [
                ["http://ACCOUNT/a", ""],
                ["http://ACCOUNT/b", "# changed\n"],
            ]) {
                program(links);
                workspace.write("lock.txt", lock(more));
                expectExit(await workspace.pulumi("preview", "--diff", "--target", "**::indexed"));
                expectExit(await workspace.up("--target", "**::indexed", "--diff"));
            }
            program("http://ACCOUNT/c");
            workspace.write("lock.txt", lock("nosuch==1\n"));
            const { output } = expectExit(await workspace.up("--target", "**::indexed"), 1);
            assert.match(output, /nosuch/);
        } finally {
            page.close();
        }
        // The engine's own log at -v=9 has it: that hides secrets of the config alone.
        const password = account.slice("user:".length);
        assert.equal(shown().includes(password), false);
        assert.deepEqual(workspace.filesWith(password), []);
        const kept = filesWith(join(workspace.host, "other"), password);
        assert.equal(kept.length, 3, kept.join());
        for (const path of kept) {
            assert.match(path, /\/other\/store\/[0-9a-f]{2}\/[0-9a-f]{64}$/);
            assert.equal(statSync(path).mode & 0o777, 0o400);
        }
    });

    it("hide the lines of a patch that is a secret as a whole", async () => {
        const body = answerDiff("a s3cret answer of this test");
        workspace.write(
            "index.ts",
            `import * as pulumi from "@pulumi/pulumi";
            import { SourcePatch } from "./components";
            new SourcePatch("secret-patch", {
                connection: { name: "here", type: "local" }, root: ${JSON.stringify(join(workspace.host, "other"))}, venv: "v",
                patches: [{ module: "sglang.srt.answer", diff: pulumi.secret(new pulumi.asset.StringAsset(${JSON.stringify(body)})) }],
            });`,
        );
        const { output } = expectExit(await workspace.pulumi("preview", "--diff", ...talkative));
        assert.match(output, /sglang\.srt\.answer \(secret, not shown\)/);
        expectExit(await workspace.up("--target", "**::secret-patch", ...talkative));
        assertNowhere(["a s3cret answer of this test"]);
    });
});

/** The files below a folder in which a text stands. */
function filesWith(folder: string, text: string): string[] {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .filter((path) => readFileSync(path).includes(text));
}

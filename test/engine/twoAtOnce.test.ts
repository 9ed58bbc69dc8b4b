import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
    completion,
    describeFleet,
    expectExit,
    rootOf,
    served,
    server,
    stagesSince,
    until,
    Workspace,
} from "./harness";

describe("two commands of two backends that change one host at once", () => {
    const on = served();
    let other: Workspace;
    const root = () => rootOf(on.workspace);
    const text = (path: string) => (existsSync(join(root(), path)) ? readFileSync(join(root(), path), "utf8") : "");
    const whom = `${userInfo().username}@${hostname()} \\(pid \\d+ there`;

    before(async () => {
        other = await Workspace.make();
    });
    after(() => other?.close());

    it("the second waits, says for whom, what that does and since when, and both are done", async () => {
        other.fleet({ hosts: {} });
        const program = `import { EnvVars } from "./components";
            const connection = { name: "here", type: "local" as const };
            new EnvVars("here-env", { connection, root: ${JSON.stringify(root())}, service: "theirs", variables: { A: "1" } });`;
        other.write("index.ts", program);
        const requirements = ["sglang==0.5.23+standin", "pybase64==1.4.2+standin", "# another lock"];
        describeFleet(on.workspace, { port: on.port, requirements });
        const first = on.workspace.start("up", "--yes", "--skip-preview");
        await until("a release is being made", () => text("lock").includes("making release"));
        // It takes as long as the second one needs to come.
        const { agent } = JSON.parse(text("lock")) as { agent: number };
        process.kill(agent, "SIGSTOP");
        const second = other.start("up", "--yes", "--skip-preview");
        await second.said(
            new RegExp(`waiting up to 60 s for ${whom}, \\d+ here\\), making release \\w+ of venv tiny, since 20`),
        );
        process.kill(agent, "SIGCONT");
        for (const { ended } of [first, second]) {
            expectExit(await ended);
        }
        assert.equal(await completion(on.port), "Lyon.");
        const { id } = JSON.parse(text("services/theirs/env.json")) as { id: string };
        assert.deepEqual(JSON.parse(text(`services/theirs/env-${id}.json`)).variables, { A: "1" });
        expectExit(await on.workspace.pulumi("preview", "--expect-no-changes"));
        expectExit(await other.destroy());
        expectExit(await on.workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("the second of two with copies of one state is refused the server that the first is changing, and told by whom and since when", async () => {
        const again = await Workspace.make();
        try {
            for (const name of ["state", "wheels", "model"]) {
                cpSync(join(on.workspace.folder, name), join(again.folder, name), { recursive: true, force: true });
            }
            describeFleet(on.workspace, { port: on.port, answer: "Nice.", env: { STANDIN_READY_AFTER: "8" } });
            cpSync(join(on.workspace.folder, "Pulumi.t.yaml"), join(again.folder, "Pulumi.t.yaml"));
            for (const path of ["locks/standin.txt", "patches/answer.diff", "patches/answer.py"]) {
                again.write(path, readFileSync(join(on.workspace.folder, path)));
            }
            again.write(
                "patches/answer.diff",
                readFileSync(join(again.folder, "patches/answer.diff"), "utf8").replace("Nice.", "Rome."),
            );
            const began = Date.now() / 1000;
            const first = on.workspace.start("up", "--yes", "--skip-preview");
            await until("the first waits for its server", () => stagesSince(on.workspace, began).includes("wait"));
            const refused = await again.up();
            assert.equal(refused.code, 1, refused.output);
            assert.match(
                refused.output.replaceAll(/\s+/g, " "),
                new RegExp(`service chat is being activated with another wish by ${whom}\\) since 20`),
            );
            expectExit(await first.ended);
            assert.equal(await completion(on.port), "Nice.");
            server(on.workspace);
        } finally {
            await again.close();
        }
    });
});

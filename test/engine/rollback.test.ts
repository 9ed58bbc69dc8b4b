import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
    answerModule,
    completion,
    describeFleet,
    expectExit,
    kill,
    processesOf,
    served,
    server,
    servers,
    stagesSince,
    until,
    type Workspace,
} from "./harness";

const set = (name: string, value: string) => `os.environ[${JSON.stringify(name)}] = ${JSON.stringify(value)}`;

describe("a release that passes the gates and does not serve is taken back", () => {
    const on = served();

    for (const { what, line, ready, stage } of [
        {
            what: "one that never becomes ready",
            line: set("STANDIN_NEVER_READY", "1"),
            ready: { timeout: "6s", stable: "1s" },
            stage: /wait|ready/,
        },
        {
            what: "one that dies soon after it was ready",
            line: set("STANDIN_DIE_AFTER", "2"),
            ready: { timeout: "30s", stable: "6s" },
            stage: /stable/,
        },
    ]) {
        it(what, async () => {
            describeFleet(on.workspace, { port: on.port, module: answerModule("Nice.", line), service: { ready } });
            const outcome = await on.workspace.up();
            assert.notEqual(outcome.code, 0, outcome.output);
            assert.match(outcome.output, stage);
            assert.match(outcome.output, /restored|old release|rolled back/i);
            assert.equal(await completion(on.port), "Lyon.");
            server(on.workspace);
        });
    }

    it("and the old config is served without a restart", async () => {
        const pid = server(on.workspace);
        describeFleet(on.workspace, { port: on.port });
        expectExit(await on.workspace.up());
        assert.equal(server(on.workspace), pid);
    });
});

describe("pulumi and the provider killed in the middle of an activation", () => {
    const env = { STANDIN_READY_AFTER: "1" };
    const on = served({ answer: "start", env });
    const wish = (answer: string) => describeFleet(on.workspace, { port: on.port, answer, env });

    for (const stage of ["save", "stop", "start", "wait", "stable", "prove"]) {
        it(`in stage ${stage}: the host ends old or new, and the next up converges`, async () => {
            const before = await completion(on.port);
            wish(stage);
            const since = Date.now() / 1000;
            const up = on.workspace.start("up", "--yes", "--skip-preview");
            await until(`stage ${stage}`, () => stagesSince(on.workspace, since).includes(stage));
            for (const pid of controllers(on.workspace)) {
                kill(pid, "SIGKILL");
            }
            await up.ended;

            await until("old or new answers", () => answersOneOf(on.port, [before, stage]));
            await until("one server", () => servers(on.workspace).length === 1);
            expectExit(await on.workspace.pulumi("cancel", "--yes"));
            expectExit(await on.workspace.up());
            assert.equal(await completion(on.port), stage);
            server(on.workspace);
        });
    }
});

/** The engine, its language host and the provider; what works on the host is not among them. */
function controllers(workspace: Workspace): number[] {
    const onHost = new Set(processesOf(workspace.host).map(({ pid }) => pid));
    return processesOf(workspace.folder)
        .filter(({ pid, argv }) => !onHost.has(pid) && argv.some((word) => /pulumi|provider\/index/.test(word)))
        .map(({ pid }) => pid);
}

async function answersOneOf(port: number, texts: string[]): Promise<boolean> {
    try {
        return texts.includes(await completion(port));
    } catch {
        return false;
    }
}

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
    answerModule,
    completion,
    describeFleet,
    expectExit,
    freePort,
    kill,
    processesOf,
    server,
    servers,
    stagesSince,
    until,
    Workspace,
} from "./harness";

const set = (name: string, value: string) => `os.environ[${JSON.stringify(name)}] = ${JSON.stringify(value)}`;

describe("a release that passes the gates and does not serve is taken back", () => {
    let workspace: Workspace;
    let port: number;

    before(async () => {
        workspace = await Workspace.make();
        port = await freePort();
        describeFleet(workspace, { port });
        expectExit(await workspace.up());
    });
    after(() => workspace.close());

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
            describeFleet(workspace, { port, module: answerModule("Nice.", line), service: { ready } });
            const outcome = await workspace.up();
            assert.notEqual(outcome.code, 0, outcome.output);
            assert.match(outcome.output, stage);
            assert.match(outcome.output, /restored|old release|rolled back/i);
            assert.equal(await completion(port), "Lyon.");
            server(workspace);
        });
    }

    it("and the old config is served without a restart", async () => {
        const pid = server(workspace);
        describeFleet(workspace, { port });
        expectExit(await workspace.up());
        assert.equal(server(workspace), pid);
    });
});

describe("pulumi and the provider killed in the middle of an activation", () => {
    let workspace: Workspace;
    let port: number;
    const wish = (answer: string) => describeFleet(workspace, { port, answer, env: { STANDIN_READY_AFTER: "1" } });

    before(async () => {
        workspace = await Workspace.make();
        port = await freePort();
        wish("start");
        expectExit(await workspace.up());
    });
    after(() => workspace.close());

    for (const stage of ["save", "stop", "start", "wait", "stable", "prove"]) {
        it(`in stage ${stage}: the host ends old or new, and the next up converges`, async () => {
            const before = await completion(port);
            wish(stage);
            const since = Date.now() / 1000;
            const up = workspace.start("up", "--yes", "--skip-preview");
            await until(`stage ${stage}`, () => stagesSince(workspace, since).includes(stage));
            for (const pid of controllers(workspace)) {
                kill(pid, "SIGKILL");
            }
            await up.ended;

            await until("old or new answers", () => answersOneOf(port, [before, stage]));
            await until("one server", () => servers(workspace).length === 1);
            expectExit(await workspace.pulumi("cancel", "--yes"));
            expectExit(await workspace.up());
            assert.equal(await completion(port), stage);
            server(workspace);
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

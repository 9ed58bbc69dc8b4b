import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { answerDiff, answerModule, expectExit } from "../engine/harness";
import { type TestHost, whyNoHosts } from "../hosts/testHost";
import {
    type Files,
    files,
    HostStand,
    type HostWishes,
    processes,
    releases,
    server,
    servers,
    unitFiles,
} from "./harness";

const skip = whyNoHosts();
const names = ["one", "two"];

/** The journal is written by the host itself, at each login. */
const noise = ["/var/log/journal/"];

/** Two systemd hosts, one stack, by the real engine over SSH. Each test goes on where the one before ended. */
describe("two hosts of one stack", { skip }, () => {
    let stand: HostStand;
    let first: Record<string, string>[];
    const each = <T>(ask: (host: TestHost) => Promise<T>): Promise<T[]> =>
        Promise.all(names.map((name) => ask(stand.host(name))));
    const answers = () => Promise.all(names.map((name) => stand.completion(name)));
    const untouched: { files: Files; folders: Files; processes: string[][]; units: string[] }[] = [];

    before(async () => {
        stand = await HostStand.up({ one: {}, two: {} });
        // The first login starts the user's manager, which stays for a moment.
        await each((host) => host.ssh("true"));
        for (const host of names.map((name) => stand.host(name))) {
            untouched.push({
                files: await files(host, noise, false),
                folders: await files(host, noise),
                processes: (await processes(host)).map(({ argv }) => argv),
                units: await unitFiles(host),
            });
        }
        stand.describe();
    });
    after(() => stand?.down());

    it("preview lists what is to be made, and writes nothing on the hosts", async () => {
        const { changes } = await stand.workspace.plan();
        const parts = ["tiny-overlays", "tiny-patches", "tiny", "chat-env", "chat"];
        const rows = names.flatMap((name) => parts.map((part) => [`${name}-${part}`, "create"]));
        const found = Object.entries(changes).filter(([name]) => /^(one|two)-/.test(name));
        assert.deepEqual(Object.fromEntries(found), Object.fromEntries(rows));
        assert.deepEqual(
            await each((host) => files(host, noise)),
            untouched.map(({ folders }) => folders),
        );
    });

    it("up serves on both, patched", async () => {
        expectExit(await stand.workspace.up());
        assert.deepEqual(await answers(), ["Lyon.", "Lyon."]);
        first = await each(releases);
        assert.deepEqual(
            first.map((one) => Object.keys(one).length),
            [1, 1],
        );
    });

    it("preview again has no change and writes nothing; up again restarts nothing", async () => {
        const seen = await each(async (host) => ({ pid: await server(host), files: await files(host, noise) }));
        expectExit(await stand.workspace.pulumi("preview", "--expect-no-changes"));
        assert.deepEqual(
            await each((host) => files(host, noise)),
            seen.map((one) => one.files),
        );
        expectExit(await stand.workspace.up("--expect-no-changes"));
        assert.deepEqual(
            await each(server),
            seen.map((one) => one.pid),
        );
    });

    it("a changed line of a patch shows as that line in preview", async () => {
        stand.describe({ answer: "Nice." });
        const { output } = expectExit(await stand.workspace.pulumi("preview", "--diff"));
        assert.match(output, /^\s*-TEXT = "Lyon\."$/m);
        assert.match(output, /^\s*\+TEXT = "Nice\."$/m);
        assert.deepEqual(await answers(), ["Lyon.", "Lyon."]);
    });

    it("up makes a second release, restarts once, and answers with the new patch", async () => {
        const old = await each(server);
        expectExit(await stand.workspace.up());
        assert.deepEqual(await answers(), ["Nice.", "Nice."]);
        const starts = await each((host) => startsOf(host));
        assert.deepEqual(starts, [2, 2]);
        const now = await each(server);
        assert.equal(now.filter((pid, at) => pid === old[at]).length, 0);
        for (const [at, found] of (await each(releases)).entries()) {
            assert.equal(Object.keys(found).length, 2);
            assert.deepEqual({ ...found, ...first[at] }, found, "the first release is still there, as it was");
        }
    });

    it("the old config goes back to the first release without building", async () => {
        const built = await each(releases);
        stand.describe();
        expectExit(await stand.workspace.up());
        assert.deepEqual(await answers(), ["Lyon.", "Lyon."]);
        assert.deepEqual(await each(releases), built);
        assert.deepEqual(await each((host) => startsOf(host)), [3, 3]);
    });

    const refused: { what: string; wishes: HostWishes; says: RegExp[] }[] = [
        {
            what: "a patch with a syntax error",
            wishes: { module: "TEXT = (\n" },
            says: [/sglang\/srt\/answer\.py/, /SyntaxError|never closed|syntax/],
        },
        {
            what: "a patch whose module does not import",
            wishes: { module: answerModule("Nice.", "import nowhere_to_be_found") },
            says: [/nowhere_to_be_found/, /sglang\/srt\/answer\.py:2/],
        },
        {
            what: "a diff that does not apply",
            wishes: { diff: answerDiff("Nice.", "Rome.") },
            says: [/answer\.py|answer\.diff/, /does not apply/],
        },
        {
            what: "a missing dependency",
            wishes: { requirements: ["sglang==0.5.23+standin"] },
            says: [/pybase64/],
        },
    ];
    for (const { what, wishes, says } of refused) {
        it(`${what} fails in the gates, and no client notices`, async () => {
            const pids = await each(server);
            const clients = names.map((name) => stand.client(name));
            stand.describe(wishes);
            const outcome = await stand.workspace.up();
            const failures = await Promise.all(clients.map((client) => client.stop()));
            assert.deepEqual(failures, [[], []]);
            assert.ok(
                clients.every(({ asked }) => asked > 10),
                "the clients asked all the while",
            );
            assert.notEqual(outcome.code, 0, outcome.output);
            for (const pattern of says) {
                assert.match(outcome.output, pattern);
            }
            assert.deepEqual(await each(server), pids);
        });
    }

    it("the old config is served without a restart afterwards", async () => {
        const pids = await each(server);
        stand.describe();
        expectExit(await stand.workspace.up());
        assert.deepEqual(await each(server), pids);
        expectExit(await stand.workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("destroy leaves nothing of ours: no file, no unit, no process", async () => {
        expectExit(await stand.workspace.destroy());
        for (const [at, host] of names.map((name) => stand.host(name)).entries()) {
            const before = untouched[at];
            assert.deepEqual(await files(host, noise, false), before?.files);
            assert.deepEqual(await unitFiles(host), before?.units);
            assert.deepEqual(
                (await processes(host)).map(({ argv }) => argv),
                before?.processes,
            );
            assert.deepEqual(await servers(host), []);
        }
    });
});

/** How often systemd has started the service on a host. */
async function startsOf(host: TestHost): Promise<number> {
    const { stdout } = await host.exec("journalctl", "-u", "sglang-chat.service", "-o", "cat", "--no-pager");
    return stdout.split("\n").filter((line) => line.startsWith("Started ")).length;
}

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { answerModule, expectExit } from "../engine/harness";
import { hostPassword, type TestHost, whyNoHosts } from "../hosts/testHost";
import { type Files, files, type HostProcess, HostStand, type HostWishes, processes, server } from "./harness";

const skip = whyNoHosts();

/** What sshd, login and sudo note about a login. */
const noise = ["/var/log/lastlog", "/var/log/wtmp", "/var/log/btmp", "/var/lib/sudo/lectured"];
const balancer = "/tmp/balancer";

/** Containers with sshd and no systemd, each reached as another user; by the real engine. Each test goes on where the one before ended. */
describe("containers without systemd", { skip }, () => {
    let stand: HostStand;
    let untouched: { files: Files; processes: HostProcess[] }[];
    const names = ["password", "tcsh", "noisy"];
    const each = <T>(ask: (host: TestHost) => Promise<T>): Promise<T[]> =>
        Promise.all(names.map((name) => ask(stand.host(name))));
    const answers = () => Promise.all(names.map((name) => stand.completion(name)));
    const told = () => each(async (host) => (await host.exec("cat", balancer)).stdout.trim().split("\n").join(" "));

    /** One is root by sudo with a password, one by sudo without and with tcsh, one is no root at all and has a noisy shell. */
    const wishes: HostWishes = {
        service: {
            drain: {
                argv: ["sh", "-c", `echo out >>${balancer}`],
                undo: ["sh", "-c", `echo in >>${balancer}`],
            },
            ready: { timeout: "20s", stable: "1s" },
        },
        hosts: {
            password: {
                connection: { user: "user-password", become: "sudo", becomePassword: { secret: "sudoPassword" } },
            },
            tcsh: { connection: { user: "user-tcsh", become: "sudo" } },
            noisy: { connection: { user: "user-noisy" }, root: "/home/user-noisy/fleet" },
        },
    };

    before(async () => {
        stand = await HostStand.up(Object.fromEntries(names.map((name) => [name, { kind: "container" }])), {
            uv: true,
        });
        await stand.workspace.secret("sudoPassword", hostPassword);
        untouched = await each(async (host) => ({
            files: await files(host, noise, false),
            processes: await processes(host),
        }));
        stand.describe(wishes);
    });
    after(() => stand?.down());

    it("are brought up by each of these users, and serve from a process of our own", async () => {
        const preview = expectExit(await stand.workspace.pulumi("preview"));
        assert.match(preview.output, /reboot/);
        expectExit(await stand.workspace.up());
        assert.deepEqual(await answers(), ["Lyon.", "Lyon.", "Lyon."]);
        await each(server);
        expectExit(await stand.workspace.pulumi("preview", "--expect-no-changes"));
        assert.equal(
            stand.workspace.outputs.some((output) => output.includes(hostPassword)),
            false,
        );
    });

    it("drain the old server before a patch goes live, and do not undo it when it does", async () => {
        const old = await each(server);
        stand.describe({ ...wishes, answer: "Nice." });
        expectExit(await stand.workspace.up());
        assert.deepEqual(await answers(), ["Nice.", "Nice.", "Nice."]);
        assert.deepEqual(await told(), ["out", "out", "out"]);
        const now = await each(server);
        assert.equal(now.filter((pid, at) => pid === old[at]).length, 0);
    });

    it("go back from a release that never gets ready, and undo the drain", async () => {
        const module = answerModule("Rome.", 'os.environ["STANDIN_NEVER_READY"] = "1"');
        const service = { ...wishes.service, ready: { timeout: "4s", stable: "1s" } };
        stand.describe({ ...wishes, module, service });
        const outcome = await stand.workspace.up();
        assert.notEqual(outcome.code, 0, outcome.output);
        assert.match(outcome.output, /not ready within 4 s/);
        assert.deepEqual(await answers(), ["Nice.", "Nice.", "Nice."]);
        assert.deepEqual(await told(), ["out out in", "out out in", "out out in"]);
        await each(server);
    });

    it("keep the server alive: one that is killed is started again", async () => {
        const old = await each(server);
        await Promise.all(names.map((name, at) => stand.host(name).exec("kill", "-9", String(old[at]))));
        for (const end = Date.now() + 30_000; Date.now() < end; await sleep(200)) {
            if ((await answers().catch(() => [])).length > 0) break;
        }
        assert.deepEqual(await answers(), ["Nice.", "Nice.", "Nice."]);
        const now = await each(server);
        assert.equal(now.filter((pid, at) => pid === old[at]).length, 0);
        stand.describe({ ...wishes, answer: "Nice." });
        expectExit(await stand.workspace.up());
        assert.deepEqual(await each(server), now);
    });

    it("have nothing of ours left after destroy: no file, no process", async () => {
        expectExit(await stand.workspace.destroy());
        await each((host) => host.exec("rm", balancer));
        assert.deepEqual(
            await each((host) => files(host, noise, false)),
            untouched.map((one) => one.files),
        );
        const argv = (found: HostProcess[]) => found.map((one) => one.argv);
        assert.deepEqual(
            (await each(processes)).map(argv),
            untouched.map((one) => argv(one.processes)),
        );
    });
});

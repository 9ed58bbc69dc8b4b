import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { within } from "./processes";
import { makeUser, ROOT, reach, refuses } from "./reach";
import { cannotRun, Sshd } from "./sshd";

describe("a login", { skip: cannotRun }, () => {
    let sshd: Sshd;
    before(async () => {
        sshd = await Sshd.start();
    });
    after(() => sshd.stop());

    test("another host key than the known one stops it before it logs in, with both fingerprints", async (t) => {
        const other = await Sshd.start();
        t.after(() => other.stop());
        const known = execFileSync("ssh-keygen", ["-lf", `${other.key}.pub`], { encoding: "utf8" }).split(" ")[1];
        const shown = execFileSync("ssh-keygen", ["-lf", join(other.folder, "host.pub")], { encoding: "utf8" }).split(
            " ",
        )[1];
        other.trust(`${other.key}.pub`);
        await refuses(reach(t, other, {}), {
            code: "host-key",
            where: `${other.knownHosts}:1`,
            found: shown,
            expected: `${known} (ED25519)`,
        });
        writeFileSync(other.knownHosts, "");
        await refuses(reach(t, other, {}), {
            code: "host-key",
            message: `no ED25519 host key is known for [127.0.0.1]:${other.port}`,
        });
        assert.equal(other.logins, 0);
    });

    test("a key that the host does not know is refused, with what was tried", async (t) => {
        const stranger = join(sshd.folder, "stranger");
        execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", stranger]);
        await refuses(reach(t, sshd, { identityFile: stranger }), {
            code: "auth",
            message: "root@127.0.0.1 refused the login",
            expected: `tried: the key ${stranger}`,
        });
    });

    test("the declared key is tried first, however many others the ssh agent holds", async (t) => {
        const strict = await Sshd.start({ MaxAuthTries: "2" });
        t.after(() => strict.stop());
        const folder = mkdtempSync(join(tmpdir(), "keys-"));
        t.after(() => rmSync(folder, { recursive: true }));
        const socket = join(folder, "agent");
        const agent = spawn("ssh-agent", ["-D", "-a", socket], { stdio: "ignore" });
        t.after(() => agent.kill());
        assert.ok(await within(5, () => existsSync(socket)));
        const env = { ...process.env, SSH_AUTH_SOCK: socket };
        for (let number = 0; number < 4; number += 1) {
            const key = join(folder, `wrong${number}`);
            execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
            execFileSync("ssh-add", ["-q", key], { env, stdio: "ignore" });
        }
        t.mock.property(process, "env", env);
        assert.equal((await reach(t, strict, {}).look(ROOT)).machine.user, "root");
        await refuses(reach(t, strict, { identityFile: undefined }), {
            code: "auth",
            message: "too many keys were tried before the right one",
        });
    });

    test("a password logs in, is in no argument, and is not given to a jump host", async (t) => {
        const secret = `p'w "$x !`;
        const someone = makeUser(t, { password: secret });
        const password = { user: someone.name, identityFile: "/no/such/key", password: secret };
        const host = reach(t, sshd, password);
        assert.equal((await host.look(ROOT)).machine.user, someone.name);
        const { stdout } = await host.call<{ stdout: string }>("exec", {
            argv: ["sh", "-c", "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '"],
        });
        assert.ok(!stdout.includes(secret));
        await refuses(
            reach(t, sshd, { ...password, password: "wrong", port: sshd.port, options: { ControlPath: "none" } }),
            {
                code: "auth",
            },
        );

        const config = join(sshd.folder, "config-of-ssh");
        writeFileSync(
            config,
            `Host gate\n HostName 127.0.0.1\n Port ${sshd.port}\n User ${someone.name}\n UserKnownHostsFile ${sshd.knownHosts}\n PubkeyAuthentication no\n`,
        );
        const before = sshd.connections;
        await refuses(reach(t, sshd, { ...password, sshConfig: config, jump: ["gate"] }), {
            code: "auth",
            message: `${someone.name}@127.0.0.1 refused the login`,
        });
        // The shared connection hides the cause, so one of its own is made; more refusals would only get the user locked out.
        assert.equal(sshd.connections - before, 2);
    });

    test("a host behind a jump host is reached through it", async (t) => {
        const config = join(sshd.folder, "config-of-jump");
        writeFileSync(
            config,
            `Host gate\n HostName 127.0.0.1\n Port ${sshd.port}\n User root\n UserKnownHostsFile ${sshd.knownHosts}\n IdentityFile ${sshd.key}\n`,
        );
        const inner = await Sshd.start();
        t.after(() => inner.stop());
        const before = sshd.logins;
        const host = reach(t, inner, { sshConfig: config, jump: ["gate"] });
        assert.equal((await host.look(ROOT)).machine.user, "root");
        assert.deepEqual([sshd.logins - before, inner.logins], [1, 1]);
    });
});

import assert from "node:assert/strict";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { makeUser, ROOT, reach } from "./reach";
import { cannotRun, Sshd } from "./sshd";

describe("a login shell of any kind", { skip: cannotRun }, () => {
    let sshd: Sshd;
    before(async () => {
        sshd = await Sshd.start();
    });
    after(() => sshd.stop());

    test("a look takes one connection and one pair of messages, and the next command uses the same connection", async (t) => {
        const first = reach(t, sshd);
        const facts = await first.look(ROOT);
        assert.deepEqual([facts.root, facts.machine.user], [ROOT, "root"]);
        assert.deepEqual([first.stats.requests, first.stats.replies, sshd.logins], [1, 1, 1]);
        t.diagnostic(`sent ${first.stats.sent} bytes, received ${first.stats.received}`);
        await first.close();
        const second = reach(t, sshd);
        await second.look(ROOT);
        assert.equal(sshd.logins, 1);
    });

    test("what rc files print, and a server without sftp, AcceptEnv or more than one session, change nothing", async (t) => {
        const bare = await Sshd.start({ MaxSessions: "1" });
        t.after(() => bare.stop());
        const noisy = makeUser(t, {
            files: {
                ".bashrc": `echo '{"x":1'; echo done; echo oops >&2; printf '\\n@sglang-ready m\\n'; alias exec=false\n`,
            },
        });
        const hosts = [1, 2].map(() => reach(t, bare, { user: noisy.name }));
        const facts = await Promise.all(hosts.map((host) => host.look(ROOT)));
        assert.deepEqual(
            facts.map(({ machine }) => machine.user),
            [noisy.name, noisy.name],
        );
        const value = ` a 'b' "c" $HOME \\ !x\nüé\t`;
        const { stdout } = await reach(t, bare, { user: noisy.name }).call<{ stdout: string }>("exec", {
            argv: ["sh", "-c", 'printf %s "$SECRET"'],
            env: { SECRET: value },
        });
        assert.equal(stdout, value);
    });

    for (const shell of ["/bin/sh", "/usr/bin/tcsh", "/usr/bin/fish"]) {
        test(`the login shell is ${shell}, and Python lies where nobody would put it`, {
            skip: !existsSync(shell) && `no ${shell} here`,
        }, async (t) => {
            const someone = makeUser(t, { shell });
            const folder = join(someone.home, `a 'b" !c $d`);
            mkdirSync(folder);
            symlinkSync("/usr/bin/python3", join(folder, "python"));
            const host = reach(t, sshd, { user: someone.name, python: join(folder, "python") });
            assert.equal((await host.look(ROOT)).machine.user, someone.name);
        });
    }
});

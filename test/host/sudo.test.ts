import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { makeUser, ROOT, reach, refuses } from "./reach";
import { cannotRun, Sshd } from "./sshd";

describe("sudo", { skip: cannotRun }, () => {
    let sshd: Sshd;
    before(async () => {
        sshd = await Sshd.start();
    });
    after(() => sshd.stop());

    test("sudo without a password, and what is said when it wants one", async (t) => {
        const someone = makeUser(t, { password: "login" });
        await refuses(reach(t, sshd, { user: someone.name, become: "sudo" }), { code: "sudo" });
        someone.allowSudo("ALL");
        await refuses(reach(t, sshd, { user: someone.name, become: "sudo" }), {
            code: "sudo",
            message: "sudo wants a password, and none is declared",
        });
        someone.allowSudo("NOPASSWD: ALL");
        for (const becomePassword of [undefined, "not asked for"]) {
            const host = reach(t, sshd, {
                user: someone.name,
                become: "sudo",
                ...(becomePassword && { becomePassword }),
            });
            assert.equal((await host.look(ROOT)).machine.user, "root");
        }
    });

    test("sudo with a password, also when the login shell is tcsh and noisy; a wrong one is said to be wrong", async (t) => {
        const secret = `r'o "$o!t`;
        const someone = makeUser(t, {
            password: secret,
            shell: "/usr/bin/tcsh",
            files: { ".tcshrc": "echo Password:\n" },
        });
        someone.allowSudo("ALL");
        const host = reach(t, sshd, { user: someone.name, become: "sudo", becomePassword: secret });
        assert.equal((await host.look(ROOT)).machine.user, "root");
        await refuses(reach(t, sshd, { user: someone.name, become: "sudo", becomePassword: "wrong" }), {
            code: "sudo",
            message: "sudo refused the password",
        });
    });
});

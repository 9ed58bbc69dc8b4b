import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ROOT, reach } from "./reach";
import { cannotRun, Sshd } from "./sshd";

describe("many hosts behind one sshd that allows few unfinished logins", { skip: cannotRun }, () => {
    let sshd: Sshd;
    before(async () => {
        sshd = await Sshd.start({ MaxStartups: "3:100:3" });
    });
    after(() => sshd.stop());

    test("those that it drops are tried again, and all are looked at", async (t) => {
        // Each with options of its own, so that none shares another's connection.
        const hosts = Array.from({ length: 12 }, (_, at) =>
            reach(t, sshd, { name: `h${at}`, options: { ServerAliveCountMax: String(at + 1) } }),
        );
        const looks = await Promise.allSettled(hosts.map((host) => host.look(ROOT)));
        assert.deepEqual(
            looks.map((look) => (look.status === "fulfilled" ? "seen" : String(look.reason))),
            hosts.map(() => "seen"),
        );
        assert.equal(sshd.logins, 12);
    });
});

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { runs, within } from "./processes";
import { ROOT, reach, refuses } from "./reach";
import { cannotRun, freePort, Sshd } from "./sshd";

describe("a link", { skip: cannotRun }, () => {
    let sshd: Sshd;
    before(async () => {
        sshd = await Sshd.start();
    });
    after(() => sshd.stop());

    test("a closed port and a server that never speaks are errors within the time that is declared", async (t) => {
        const closed = await freePort();
        await refuses(reach(t, sshd, { port: closed }), {
            code: "unreachable",
            message: `connect to host 127.0.0.1 port ${closed}: Connection refused`,
        });
        const silent = createServer();
        t.after(() => silent.close());
        await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
        const { port } = silent.address() as { port: number };
        const began = Date.now();
        await refuses(reach(t, sshd, { port, connectTimeout: 1 }), {
            code: "unreachable",
            message: "Connection timed out during banner exchange",
        });
        assert.ok(Date.now() - began < 5000);
    });

    test("a connection that is cut during a call is an error at once, and the next call connects anew", async (t) => {
        const cut = await Sshd.start();
        t.after(() => cut.stop());
        const host = reach(t, cut, {});
        await host.look(ROOT);
        const call = host.call("exec", { argv: ["sleep", "60"], timeout: 60 });
        setTimeout(() => cut.sessions().forEach((pid) => void process.kill(pid, "SIGKILL")), 300);
        await refuses(host, { code: "lost", message: "the connection was lost during exec" }, call);
        host.changed(ROOT);
        assert.equal((await host.look(ROOT)).machine.user, "root");
        assert.equal(cut.logins, 2);
    });

    test("a link that falls silent is an error within the time that is declared, and a login by the dead shared connection makes one of its own", async (t) => {
        const links = new Set<Socket>();
        const proxy = createServer((from) => {
            const to = connect(sshd.port, "127.0.0.1");
            from.on("error", () => to.destroy());
            to.on("error", () => from.destroy());
            from.pipe(to).pipe(from);
            links.add(from).add(to);
        });
        await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
        t.after(() => links.forEach((link) => void link.destroy()));
        t.after(() => proxy.close());
        const { port } = proxy.address() as { port: number };
        const options = {
            ServerAliveInterval: "1",
            ServerAliveCountMax: "2",
            HostKeyAlias: `[127.0.0.1]:${sshd.port}`,
        };
        const [host, other] = [1, 2].map(() => reach(t, sshd, { port, connectTimeout: 2, options }));
        assert.ok(host && other);
        await host.look(ROOT);
        links.forEach((link) => void link.pause().unpipe());
        const began = Date.now();
        const [facts] = await Promise.all([
            other.look(ROOT),
            refuses(host, { code: "lost" }, host.call("exec", { argv: ["sleep", "60"], timeout: 60 })),
        ]);
        assert.equal(facts.machine.user, "root");
        assert.ok(Date.now() - began < 12_000);
    });

    test("when the program is killed, its agent and what that runs end by themselves", async (t) => {
        const pidFile = join(sshd.folder, "pid");
        const script = join(sshd.folder, "caller.ts");
        writeFileSync(
            script,
            `import { connectHost } from ${JSON.stringify(join(__dirname, "../../provider/host/connect"))};
            const host = connectHost(${JSON.stringify(sshd.connection())});
            host.call("exec", { argv: ["sh", "-c", "echo $$ $PPID > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; exec sleep 300"], timeout: 300 });`,
        );
        const caller = spawn(process.execPath, ["--require", "ts-node/register/transpile-only", script], {
            stdio: "ignore",
        });
        t.after(() => caller.kill("SIGKILL"));
        assert.ok(await within(20, () => numbers(pidFile).length === 2));
        const [command = 0, agent = 0] = numbers(pidFile);
        caller.kill("SIGKILL");
        assert.ok(await within(15, () => !runs(command) && !runs(agent)));
        rmSync(pidFile);
    });
});

function numbers(path: string): number[] {
    try {
        return readFileSync(path, "utf8").trim().split(" ").map(Number);
    } catch {
        return [];
    }
}

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import type { Connection } from "../../provider/connection";
import { type ConnectedHost, connectHost } from "../../provider/host/connect";
import type { HostError } from "../../provider/host/host";
import { cannotRun, freePort, runs, Sshd, User, within } from "./sshd";

const ROOT = "/nowhere/sglang";

describe("a real sshd", { skip: cannotRun }, () => {
    let sshd: Sshd;
    before(async () => {
        sshd = await Sshd.start();
    });
    after(() => sshd.stop());

    function reach(t: TestContext, more: Partial<Connection> = {}, server = sshd): ConnectedHost {
        const host = connectHost(server.connection(more));
        t.after(() => host.close());
        return host;
    }

    function user(t: TestContext, given?: ConstructorParameters<typeof User>[0]): User {
        const made = new User(given);
        t.after(() => made.remove());
        return made;
    }

    test("a look takes one connection and one pair of messages, and the next command uses the same connection", async (t) => {
        const first = reach(t);
        const facts = await first.look(ROOT);
        assert.deepEqual([facts.root, facts.machine.user], [ROOT, "root"]);
        assert.deepEqual([first.stats.requests, first.stats.replies, sshd.logins], [1, 1, 1]);
        t.diagnostic(`sent ${first.stats.sent} bytes, received ${first.stats.received}`);
        await first.close();
        const second = reach(t);
        await second.look(ROOT);
        assert.equal(sshd.logins, 1);
    });

    test("what rc files print, and a server without sftp, AcceptEnv or more than one session, change nothing", async (t) => {
        const bare = await Sshd.start({ MaxSessions: "1" });
        t.after(() => bare.stop());
        const noisy = user(t, {
            files: {
                ".bashrc": `echo '{"x":1'; echo done; echo oops >&2; printf '\\n@sglang-ready m\\n'; alias exec=false\n`,
            },
        });
        const hosts = [1, 2].map(() => reach(t, { user: noisy.name }, bare));
        const facts = await Promise.all(hosts.map((host) => host.look(ROOT)));
        assert.deepEqual(
            facts.map(({ machine }) => machine.user),
            [noisy.name, noisy.name],
        );
        const value = ` a 'b' "c" $HOME \\ !x\nüé\t`;
        const { stdout } = await reach(t, { user: noisy.name }, bare).call<{ stdout: string }>("exec", {
            argv: ["sh", "-c", 'printf %s "$SECRET"'],
            env: { SECRET: value },
        });
        assert.equal(stdout, value);
    });

    for (const shell of ["/bin/sh", "/usr/bin/tcsh", "/usr/bin/fish"]) {
        test(`the login shell is ${shell}, and Python lies where nobody would put it`, async (t) => {
            const someone = user(t, { shell });
            const folder = join(someone.home, `a 'b" !c $d`);
            mkdirSync(folder);
            symlinkSync("/usr/bin/python3", join(folder, "python"));
            const host = reach(t, { user: someone.name, python: join(folder, "python") });
            assert.equal((await host.look(ROOT)).machine.user, someone.name);
        });
    }

    test("another host key than the known one stops it before it logs in, with both fingerprints", async (t) => {
        const other = await Sshd.start();
        t.after(() => other.stop());
        const known = execFileSync("ssh-keygen", ["-lf", `${other.key}.pub`], { encoding: "utf8" }).split(" ")[1];
        const shown = execFileSync("ssh-keygen", ["-lf", join(other.folder, "host.pub")], { encoding: "utf8" }).split(
            " ",
        )[1];
        other.trust(`${other.key}.pub`);
        await refuses(reach(t, {}, other), {
            code: "host-key",
            where: `${other.knownHosts}:1`,
            found: shown,
            expected: `${known} (ED25519)`,
        });
        writeFileSync(other.knownHosts, "");
        await refuses(reach(t, {}, other), {
            code: "host-key",
            message: `no ED25519 host key is known for [127.0.0.1]:${other.port}`,
        });
        assert.equal(other.logins, 0);
    });

    test("a closed port and a server that never speaks are errors within the time that is declared", async (t) => {
        const closed = await freePort();
        await refuses(reach(t, { port: closed }), {
            code: "unreachable",
            message: `connect to host 127.0.0.1 port ${closed}: Connection refused`,
        });
        const silent = createServer();
        t.after(() => silent.close());
        await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
        const { port } = silent.address() as { port: number };
        const began = Date.now();
        await refuses(reach(t, { port, connectTimeout: 1 }), {
            code: "unreachable",
            message: "Connection timed out during banner exchange",
        });
        assert.ok(Date.now() - began < 5000);
    });

    test("a key that the host does not know is refused, with what was tried", async (t) => {
        const stranger = join(sshd.folder, "stranger");
        execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", stranger]);
        await refuses(reach(t, { identityFile: stranger }), {
            code: "auth",
            message: "root@127.0.0.1 refused the login",
            expected: `tried: the key ${stranger}`,
        });
    });

    test("a password logs in, is in no argument, and is not given to a jump host", async (t) => {
        const secret = `p'w "$x !`;
        const someone = user(t, { password: secret });
        const password = { user: someone.name, identityFile: "/no/such/key", password: secret };
        const host = reach(t, password);
        assert.equal((await host.look(ROOT)).machine.user, someone.name);
        const { stdout } = await host.call<{ stdout: string }>("exec", {
            argv: ["sh", "-c", "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '"],
        });
        assert.ok(!stdout.includes(secret));
        await refuses(reach(t, { ...password, password: "wrong", port: sshd.port, options: { ControlPath: "none" } }), {
            code: "auth",
        });

        const config = join(sshd.folder, "config-of-ssh");
        writeFileSync(
            config,
            `Host gate\n HostName 127.0.0.1\n Port ${sshd.port}\n User ${someone.name}\n UserKnownHostsFile ${sshd.knownHosts}\n PubkeyAuthentication no\n`,
        );
        await refuses(reach(t, { ...password, sshConfig: config, jump: ["gate"] }), {
            code: "auth",
            message: `${someone.name}@127.0.0.1 refused the login`,
        });
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
        const host = reach(t, { sshConfig: config, jump: ["gate"] }, inner);
        assert.equal((await host.look(ROOT)).machine.user, "root");
        assert.deepEqual([sshd.logins - before, inner.logins], [1, 1]);
    });

    test("sudo without a password, and what is said when it wants one", async (t) => {
        const someone = user(t, { password: "login" });
        await refuses(reach(t, { user: someone.name, become: "sudo" }), { code: "sudo" });
        someone.allowSudo("ALL");
        await refuses(reach(t, { user: someone.name, become: "sudo" }), {
            code: "sudo",
            message: "sudo wants a password, and none is declared",
        });
        someone.allowSudo("NOPASSWD: ALL");
        for (const becomePassword of [undefined, "not asked for"]) {
            const host = reach(t, { user: someone.name, become: "sudo", ...(becomePassword && { becomePassword }) });
            assert.equal((await host.look(ROOT)).machine.user, "root");
        }
    });

    test("sudo with a password, also when the login shell is tcsh and noisy; a wrong one is said to be wrong", async (t) => {
        const secret = `r'o "$o!t`;
        const someone = user(t, { password: secret, shell: "/usr/bin/tcsh", files: { ".tcshrc": "echo Password:\n" } });
        someone.allowSudo("ALL");
        const host = reach(t, { user: someone.name, become: "sudo", becomePassword: secret });
        assert.equal((await host.look(ROOT)).machine.user, "root");
        await refuses(reach(t, { user: someone.name, become: "sudo", becomePassword: "wrong" }), {
            code: "sudo",
            message: "sudo refused the password",
        });
    });

    test("a connection that is cut during a call is an error at once, and the next call connects anew", async (t) => {
        const cut = await Sshd.start();
        t.after(() => cut.stop());
        const host = reach(t, {}, cut);
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
        const [host, other] = [1, 2].map(() => reach(t, { port, connectTimeout: 2, options }));
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
        assert.equal((await reach(t, {}, strict).look(ROOT)).machine.user, "root");
        await refuses(reach(t, { identityFile: undefined }, strict), {
            code: "auth",
            message: "too many keys were tried before the right one",
        });
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

async function refuses(
    host: ConnectedHost,
    report: Record<string, unknown>,
    call: Promise<unknown> = host.look(ROOT),
): Promise<void> {
    await assert.rejects(call, (error: HostError) => {
        const found = Object.fromEntries(Object.keys(report).map((key) => [key, error.report[key as "code"]]));
        assert.deepEqual(found, report, JSON.stringify(error.report, null, 1));
        return true;
    });
}

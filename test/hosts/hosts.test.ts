import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { hostPassword, TestHost, whyNoHosts } from "./testHost";

const skip = whyNoHosts();
let machine: TestHost;
let container: TestHost;

/** As a venv: what a host's python3 imports of it. Its lib has the name of the hosts' Python. */
const venv = mkdtempSync(join(tmpdir(), "test-venv-"));
const site = join(venv, "lib/python3.11/site-packages");

before(async () => {
    if (skip) return;
    mkdirSync(site, { recursive: true });
    writeFileSync(join(site, "shared.py"), "answer = 42\n");
    const options = [{ kind: "systemd" }, { kind: "container", venv, wheels: __dirname }] as const;
    [machine, container] = (await TestHost.up(...options)) as [TestHost, TestHost];
});
after(async () => {
    await TestHost.down(machine, container);
    rmSync(venv, { recursive: true });
});

test("a systemd host is up, and all its units are", { skip }, async () => {
    const answer = await machine.ssh(
        "systemctl is-system-running --wait; systemctl --failed --no-legend; cat /proc/1/comm",
    );
    assert.deepEqual(answer, { exit: 0, stdout: "running\nsystemd\n", stderr: "" });
});

test("a container has sshd and no systemd", { skip }, async () => {
    const answer = await container.ssh(
        "test -d /run/systemd/system; echo $?; ps -C systemd,sshd -o comm= | sort -u; uname -n",
    );
    assert.deepEqual(answer, { exit: 0, stdout: `1\nsshd\n${container.name}\n`, stderr: "" });
});

test("a shared venv runs on the host's own python, and what the host changes in it stays there", { skip }, async () => {
    const asked = "/opt/venv/bin/python -c 'import shared, sys; print(shared.answer, sys.prefix)'";
    assert.equal((await container.ssh(asked)).stdout, "42 /opt/venv\n");
    await container.ssh("echo 'answer = 43' > /opt/venv/lib/python3.11/site-packages/shared.py");
    assert.equal((await container.ssh(asked)).stdout, "43 /opt/venv\n");
    assert.equal(readFileSync(join(site, "shared.py"), "utf8"), "answer = 42\n");
});

test("the wheels folder is there to be read", { skip }, async () => {
    assert.equal((await container.ssh("ls /opt/wheels/testHost.ts && touch /opt/wheels/x")).exit, 1);
});

test("this machine gives enough inotify instances to many systemds, as long as there are hosts", { skip }, () => {
    const given = readFileSync("/proc/sys/fs/inotify/max_user_instances", "utf8");
    assert.ok(Number(given) >= 4096, given);
});

test("hosts of another state folder get other addresses", { skip }, () => {
    const ask = "import network; print(network.claim_address(set())[0])";
    const next = execFileSync("python3", ["-B", "-c", ask], { cwd: __dirname, encoding: "utf8" }).trim();
    assert.match(next, /^10\.77\.0\.\d+$/);
    assert.ok(![machine.address, container.address].includes(next), next);
});

test("each user has the login shell that its name says", { skip }, async () => {
    for (const [user, shell] of Object.entries({
        "user-tcsh": "/bin/tcsh",
        "user-fish": "/bin/fish",
        "user-plain": "/bin/bash",
    })) {
        assert.equal((await machine.ssh("echo $SHELL", { user })).stdout.trim().replace("/usr/bin", "/bin"), shell);
    }
    assert.equal((await machine.ssh("echo hello", { user: "user-noisy" })).stdout, '{"x":1\ndone\nhello\n');
});

test("sudo needs no password, the password, or is refused, as the user's name says", { skip }, async () => {
    assert.equal((await machine.ssh("sudo -n id -u", { user: "user-sudo" })).stdout, "0\n");
    assert.equal((await machine.ssh("sudo -n id -u", { user: "user-password" })).exit, 1);
    const input = `${hostPassword}\n`;
    assert.equal((await machine.ssh("sudo -S -p '' id -u", { user: "user-password", input })).stdout, "0\n");
    assert.equal((await machine.ssh("sudo -S -p '' id -u", { user: "user-plain", input })).exit, 1);
});

test("units of the same name on two hosts are two, and a host knows nothing of this machine's processes", {
    skip,
}, async () => {
    const [other] = (await TestHost.up({})) as [TestHost];
    try {
        for (const host of [machine, other])
            assert.equal((await host.ssh("systemd-run -q --unit=same sleep 600")).exit, 0);
        await machine.ssh("systemctl stop same");
        assert.equal((await other.ssh("systemctl is-active same")).stdout, "active\n");
        assert.notEqual(machine.machineId, other.machineId);
        assert.equal((await other.ssh(`test -d /proc/${process.pid}`)).exit, 1);
    } finally {
        await TestHost.down(other);
    }
});

test("a cut link loses packets and leaves the host running; restored, it answers again", { skip }, async () => {
    await machine.cutLink();
    const lost = await machine.ssh("true", { patience: 2 });
    assert.equal(lost.exit, 255);
    assert.match(lost.stderr, /timed out|No route to host/);
    assert.equal((await machine.exec("cat", "/etc/hostname")).stdout, `${machine.name}\n`);
    await machine.restoreLink();
    assert.equal((await machine.ssh("echo back")).stdout, "back\n");
});

test("a slow link takes its time both ways, until it is taken away", { skip }, async () => {
    const took = async () => {
        const started = performance.now();
        assert.equal((await machine.ssh("true")).exit, 0);
        return performance.now() - started;
    };
    const quick = await took();
    await machine.slow(40, 0);
    const slow = await took();
    await machine.slow(0, 0);
    assert.ok(slow > quick + 500, `${slow} ms over 80 ms of round trip, ${quick} ms before`);
    assert.ok((await took()) < slow - 400);
});

test("a reboot, soft or hard, is a new boot of the same machine with its files", { skip }, async () => {
    const boot = async (host: TestHost) => (await host.ssh("cat /proc/sys/kernel/random/boot_id")).stdout;
    for (const [host, hard] of [
        [machine, false],
        [machine, true],
        [container, true],
    ] as [TestHost, boolean][]) {
        const before = await boot(host);
        await host.ssh("echo kept > /opt/kept; sync");
        await host.reboot({ hard });
        assert.notEqual(await boot(host), before);
        assert.equal((await host.ssh("cat /opt/kept")).stdout, "kept\n");
    }
    assert.equal((await machine.ssh("cat /etc/machine-id")).stdout, `${machine.machineId}\n`);
});

test("with the power off nothing answers; a host that shuts itself down can be booted again", { skip }, async () => {
    await container.powerOff();
    assert.equal((await container.exec("true")).exit, 1);
    await container.powerOn();
    assert.equal((await container.ssh("echo back")).stdout, "back\n");
});

test("a host with new keys is refused by who knew the old ones", { skip }, async () => {
    const old = readFileSync(container.knownHostsPath, "utf8");
    await container.rekey();
    assert.notEqual(readFileSync(container.knownHostsPath, "utf8"), old);
    assert.equal((await container.ssh("echo known")).stdout, "known\n");
});

test("a host ends with the process that it was made for, even one that was killed", { skip }, async () => {
    const owner = spawn("sleep", ["600"]);
    const tool = join(__dirname, "hosts");
    const name = `o${process.pid.toString(36)}`;
    try {
        execFileSync(tool, ["up", name, "--while", String(owner.pid)]);
    } finally {
        owner.kill("SIGKILL");
    }
    const deadline = Date.now() + 10_000;
    const listed = () => execFileSync(tool, ["list"], { encoding: "utf8" });
    while (listed().includes(`"${name}"`) && Date.now() < deadline) await setTimeout(100);
    assert.ok(!listed().includes(`"${name}"`));
});

test("hosts that are down leave no process, mount, link, cgroup or file", { skip }, async () => {
    const [gone] = (await TestHost.up({})) as [TestHost];
    const folder = gone.sshConfigPath.replace(/\/ssh_config$/, "");
    await gone.slow(1, 0);
    await TestHost.down(gone);
    const processes = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" });
    assert.equal(processes.split("\n").filter((line) => line.includes(gone.name)).length, 0);
    assert.ok(!readFileSync("/proc/self/mounts", "utf8").includes(gone.name));
    assert.deepEqual(
        readdirSync("/sys/class/net").filter((name) => name.includes(gone.name)),
        [],
    );
    assert.deepEqual(
        readdirSync("/sys/fs/cgroup", { recursive: true }).filter((name) => String(name).includes(gone.name)),
        [],
    );
    assert.ok(!existsSync(folder));
});

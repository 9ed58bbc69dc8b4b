import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, beforeEach, it } from "node:test";
import * as pulumi from "@pulumi/pulumi";
import { type CommandArgs, GpuHost, type GpuHostArgs } from "../../components";
import { line } from "../../components/command/shell";
import { onHost, type Reached, stdin } from "../../components/command/ssh";
import type { Connection } from "../../provider/connection";
import { sshArgv } from "../../provider/host/argv";
import { type Engine, engine, inputsOf, settled } from "./mocks";

let mock: Engine;
const bin = mkdtempSync(join(tmpdir(), "sglang-fleet-ssh-"));
before(async () => {
    mock = await engine();
    // Stand-ins: `ssh` shows its arguments and hands its last one to a shell, as sshd does; `sudo` may ask first.
    const ssh = `printf '<%s>' "$@" >&2; [ -z "$SSH_ASKPASS" ] || printf 'asked:%s' "$("$SSH_ASKPASS" "password:")" >&2\nfor last; do :; done; exec sh -c "$last"`;
    const sudo = `case "$1" in -n) shift ;; -S) shift 3; [ "$SUDO_ASKS" = no ] || { read -r p; printf 'sudo:%s' "$p" >&2; } ;; esac\nshift 2; exec "$@"`;
    writeFileSync(join(bin, "ssh"), `#!/bin/sh\n${ssh}\n`, { mode: 0o755 });
    writeFileSync(join(bin, "sudo"), `#!/bin/sh\n${sudo}\n`, { mode: 0o755 });
});
beforeEach(() => {
    mock.registered.length = 0;
});
after(() => rmSync(bin, { recursive: true }));

const host = (more: Partial<GpuHostArgs>, post: CommandArgs[] = []): GpuHostArgs => ({
    connection: { host: "10.1.2.200" },
    venvs: { v: { base: { adopt: "/v" } } },
    services: { chat: { venv: "v", model: "/m", port: 30000, flags: { "tp-size": 1 }, after: post } },
    ...more,
});

it("commands before run in order, and everything on the host waits for them", async () => {
    const made = new GpuHost(
        "ct200",
        host({ before: [{ run: "mount /data" }, { run: ["mkdir", "-p", "/data/my models"] }] }),
    );
    await settled(made.children);
    const names = mock.registered.filter(({ type }) => type !== "sglang:index:GpuHost").map(({ name }) => name);
    assert.deepEqual(names.slice(0, 2), ["ct200-before-0", "ct200-before-1"]);
    assert.deepEqual(names.slice(2).sort(), ["ct200-chat", "ct200-chat-env", "ct200-v"]);
    assert.deepEqual(inputsOf(mock, "Command", "ct200-before-0"), {
        create: line(["ssh", ...sshArgv(reached, reader, undefined)]),
        environment: {},
        stdin: "@sglang-script\nmount /data\n",
        triggers: ["mount /data"],
    });
    assert.equal(inputsOf(mock, "Command", "ct200-before-1").stdin, "@sglang-script\nmkdir -p '/data/my models'\n");
});

it("commands after wait for the service, and run again for another release, environment or command line", async () => {
    const made = new GpuHost(
        "ct200",
        host({}, [{ run: ["curl", "x"], on: "control", env: { TOKEN: pulumi.secret("t") } }]),
    );
    await settled(made.children);
    assert.equal(mock.registered.at(-1)?.name, "ct200-chat-after-0");
    assert.deepEqual(inputsOf(mock, "Command", "ct200-chat-after-0"), {
        create: "curl x",
        environment: { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", value: { TOKEN: "t" } },
        triggers: ["curl x", "release of venv", "digest of env", '{"model":"/m","port":30000,"flags":{"tp-size":1}}'],
    });
});

/** Runs what a command on the host would run, with the stand-ins for ssh and sudo. */
function ran(to: Reached, script: string, env: Record<string, string> = {}, more: Record<string, string> = {}) {
    const { status, stdout, stderr } = spawnSync("sh", ["-c", onHost(to)], {
        input: stdin(to, script, env),
        env: { PATH: `${bin}${delimiter}${process.env.PATH}`, ...more },
        encoding: "utf8",
    });
    return { status, stdout, stderr };
}

const reached: Connection = { name: "ct200", host: "10.1.2.200", type: "ssh", become: "none", connectTimeout: 15 };
const reader = line(["sh", "-c", 'while IFS= read -r l; do [ "$l" = @sglang-script ] && exec sh -s; done; exit 97']);

const awkward = `k\\1$HOME"q'#; two\nlines`;

it("a script arrives on the host as it is, with its variables byte for byte", () => {
    assert.deepEqual(
        ran({ name: "h", type: "local" }, 'printf "%s|" "$A"; cat <<X\n$(echo in)\nX\nexit 3', { A: awkward }),
        {
            status: 3,
            stdout: `${awkward}|in\n`,
            stderr: "",
        },
    );
});

it("ssh is called as the provider calls it, with the connection's settings", () => {
    const to: Connection = {
        ...reached,
        host: "gpu-a",
        identityFile: "~/.ssh/a key",
        jump: ["a@b:1", "c"],
        port: 2222,
    };
    const { stdout, stderr } = ran(to, "echo here");
    assert.equal(stdout, "here\n");
    assert.deepEqual(stderr.slice(1, -1).split("><"), sshArgv(to, reader, undefined));
});

it("a login password reaches ssh by askpass only, and leaves nothing", () => {
    const out = ran({ name: "h", password: "" }, "echo here", {}, { PULUMI_SGLANG_SSH_PASSWORD: "p'w" });
    assert.equal(out.stdout, "here\n");
    assert.match(out.stderr, /asked:p'w$/);
    assert.doesNotMatch(out.stderr.replace(/asked:.*/, ""), /p'w|BatchMode=yes/);
});

it("sudo's password is read by sudo, and dropped when sudo does not ask", () => {
    const to: Reached = { name: "h", type: "local", become: "sudo", becomePassword: "touch /nowhere/x" };
    assert.deepEqual(ran(to, "echo here"), { status: 0, stdout: "here\n", stderr: "sudo:touch /nowhere/x" });
    assert.deepEqual(ran(to, "echo here", {}, { SUDO_ASKS: "no" }), { status: 0, stdout: "here\n", stderr: "" });
    assert.deepEqual(ran({ name: "h", type: "local", become: "sudo" }, "echo here").stdout, "here\n");
});

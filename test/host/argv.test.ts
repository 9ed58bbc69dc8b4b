import assert from "node:assert/strict";
import { test } from "node:test";
import { connection } from "../../provider/connection";
import { sshArgv } from "../../provider/host/argv";

const BEFORE = [
    "-o",
    "BatchMode=yes",
    "-o",
    "NumberOfPasswordPrompts=1",
    "-o",
    "RemoteCommand=none",
    "-o",
    "RequestTTY=no",
    "-o",
    "EscapeChar=none",
    "-o",
    "ClearAllForwardings=yes",
    "-o",
    "PermitLocalCommand=no",
];
const ALIVE = ["-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=4"];

test("a bare name is left to ssh's own config, but for strict host keys and no questions", () => {
    assert.deepEqual(sshArgv(connection.parse({ name: "ct200" }), "CMD", undefined), [
        "-T",
        "-a",
        "-x",
        ...BEFORE,
        "-o",
        "StrictHostKeyChecking=yes",
        "-o",
        "ConnectTimeout=15",
        ...ALIVE,
        "-o",
        "ControlPath=none",
        "--",
        "ct200",
        "CMD",
    ]);
});

test("everything declared has its place, and the user's options come before our defaults", () => {
    const declared = connection.parse({
        name: "ct200",
        host: "10.1.2.200",
        user: "root",
        port: 2222,
        identityFile: "/k/id",
        jump: ["a@gate:1", "b"],
        knownHosts: "/k/known hosts",
        sshConfig: "none",
        connectTimeout: 3,
        options: { ServerAliveInterval: "60" },
    });
    assert.deepEqual(sshArgv(declared, "CMD", "/run/x/50%"), [
        "-T",
        "-a",
        "-x",
        "-F",
        "none",
        "-l",
        "root",
        "-p",
        "2222",
        "-i",
        "/k/id",
        "-J",
        "a@gate:1,b",
        ...BEFORE,
        "-o",
        "ServerAliveInterval=60",
        "-o",
        "StrictHostKeyChecking=yes",
        "-o",
        'UserKnownHostsFile="/k/known hosts"',
        "-o",
        "GlobalKnownHostsFile=none",
        "-o",
        "IdentitiesOnly=yes",
        "-o",
        "ConnectTimeout=3",
        ...ALIVE,
        "-o",
        "ControlMaster=auto",
        "-o",
        "ControlPersist=30",
        "-o",
        'ControlPath="/run/x/50%%"',
        "--",
        "10.1.2.200",
        "CMD",
    ]);
});

test("a password lets ssh ask, and is nowhere in the arguments", () => {
    const argv = sshArgv(
        connection.parse({ name: "h", password: "s3cret", become: "sudo", becomePassword: "r00t" }),
        "CMD",
        undefined,
    );
    assert.ok(argv.includes("BatchMode=no"));
    assert.deepEqual(
        argv.filter((word) => /s3cret|r00t/.test(word)),
        [],
    );
});

test("a host that looks like an option is not one", () => {
    assert.deepEqual(sshArgv(connection.parse({ name: "-oProxyCommand=x" }), "CMD", undefined).slice(-3), [
        "--",
        "-oProxyCommand=x",
        "CMD",
    ]);
});

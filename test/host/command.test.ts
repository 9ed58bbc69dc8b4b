import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { remoteCommand, startLine } from "../../provider/host/command";

test("no character of it means something to one shell and nothing to another", () => {
    for (const become of ["none", "sudo", "sudo-with-password"] as const) {
        const quoted = remoteCommand(become).split("'");
        assert.equal(quoted.length, 5, "two quoted words");
        assert.deepEqual(
            quoted.filter((part) => /[!\\\n]/.test(part)),
            [],
        );
        // csh takes words of up to 1024 characters.
        assert.ok(quoted.every((part) => part.length < 1024));
        const plain = [quoted[0], quoted[2], quoted[4]].join("");
        assert.match(plain, /^[a-zA-Z/@: -]*$/);
    }
});

test("how the agent becomes root is said before the shell", () => {
    assert.match(remoteCommand("none"), /^exec \/bin\/sh -c '/);
    assert.match(remoteCommand("sudo"), /^exec sudo -n -H -- \/bin\/sh -c '/);
    assert.match(remoteCommand("sudo-with-password"), /^exec sudo -S -H -p @sglang-sudo-prompt: -- \/bin\/sh -c '/);
});

const BUNDLE = "not a bundle";
const shells = ["/bin/sh", "/bin/bash", "/usr/bin/tcsh", "/usr/bin/csh", "/usr/bin/fish", "/bin/dash", "/usr/bin/zsh"];
for (const shell of shells) {
    test(`${shell} hands stdin on to Python, without a byte too much or too few`, {
        skip: !existsSync(shell) && `no ${shell}`,
    }, () => {
        const input = `noise of somebody else\n${startLine("m", BUNDLE.length)}${BUNDLE}`;
        const { stdout, stderr } = spawnSync(shell, ["-c", remoteCommand("none")], { input, encoding: "utf8" });
        assert.equal(stdout, "@sglang-shell\n");
        assert.match(stderr, /zlib\.error: Error -3 while decompressing data/);
    });
}

test("a Python that is declared is the only one that is tried, whatever its name holds", () => {
    const input = startLine("m", 0, `/no such/"py$th'on!\\`);
    const { status, stderr } = spawnSync("/bin/sh", ["-c", remoteCommand("none")], { input, encoding: "utf8" });
    assert.equal(stderr, `@sglang-no-python /no such/"py$th'on!\\\n`);
    assert.equal(status, 92);
});

test("without a Python it says what was tried", () => {
    const input = startLine("m", 0);
    const env = { PATH: "/nowhere", HOME: "/nowhere" };
    const command = remoteCommand("none")
        .replaceAll("/usr/bin/python3", "/no/python3")
        .replaceAll("/usr/local/bin/python3", "/no/python3");
    const { status, stderr } = spawnSync("/bin/sh", ["-c", command], { input, encoding: "utf8", env });
    assert.match(
        stderr,
        /^@sglang-no-python python3 python3\.14 python3\.13 .* \/nowhere\/miniconda3\/bin\/python3\n$/,
    );
    assert.equal(status, 92);
});

import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { connection } from "../../provider/connection";
import { controlFolders, controlName, controlPath } from "../../provider/host/control";

const h1 = connection.parse({ name: "h1" });
const uid = process.getuid?.() ?? 0;

test("the folder is the session's own, else one with the user's id in its name", () => {
    assert.deepEqual(controlFolders({ XDG_RUNTIME_DIR: "/run/user/7" }, 7), [
        "/run/user/7/sglang-fleet",
        "/tmp/sglang-fleet-7",
    ]);
    assert.deepEqual(controlFolders({}, 7), ["/tmp/sglang-fleet-7"]);
});

test("whatever decides who is reached is part of the name", () => {
    const names = [
        {},
        { user: "a" },
        { port: 23 },
        { identityFile: "/k" },
        { knownHosts: "/h" },
        { jump: ["g"] },
        { sshConfig: "none" },
        { options: { User: "b" } },
    ];
    assert.equal(new Set(names.map((more) => controlName({ ...h1, ...more }))).size, names.length);
    assert.equal(controlName({ ...h1, connectTimeout: 1 }), controlName(h1));
});

test("the folder is made for its owner alone; one that others can enter, or a link, is not used", (t) => {
    const runtime = mkdtempSync(join(tmpdir(), "rt-"));
    t.after(() => rmSync(runtime, { recursive: true }));
    const folder = join(runtime, "sglang-fleet");
    assert.equal(controlPath(h1, { XDG_RUNTIME_DIR: runtime }, uid), join(folder, controlName(h1)));
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    chmodSync(folder, 0o755);
    assert.notEqual(controlPath(h1, { XDG_RUNTIME_DIR: runtime }, uid)?.startsWith(runtime), true);
    rmSync(folder, { recursive: true });
    symlinkSync("/tmp", folder);
    assert.notEqual(controlPath(h1, { XDG_RUNTIME_DIR: runtime }, uid)?.startsWith(runtime), true);
});

test("a path that is too long for a socket is passed over", (t) => {
    const runtime = mkdtempSync(join(tmpdir(), "r".repeat(80)));
    t.after(() => rmSync(runtime, { recursive: true }));
    assert.notEqual(controlPath(h1, { XDG_RUNTIME_DIR: runtime }, uid)?.startsWith(runtime), true);
});

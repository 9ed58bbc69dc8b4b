import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { connection } from "../../provider/connection";
import { type ConnectedHost, connectHost } from "../../provider/host/connect";
import type { Content, HostError } from "../../provider/host/host";

function local(t: TestContext, more = {}): { host: ConnectedHost; root: string; folder: string } {
    const folder = mkdtempSync(join(tmpdir(), "sglang-local-"));
    const host = connectHost(connection.parse({ name: "here", type: "local", ...more }));
    t.after(async () => {
        await host.close();
        rmSync(folder, { recursive: true });
    });
    return { host, root: join(folder, "root"), folder };
}

function content(text: string): Content {
    return { sha256: sha256(text), size: Buffer.byteLength(text), text };
}

function sha256(data: string | Buffer): string {
    return createHash("sha256").update(data).digest("hex");
}

test("many who look at once are told by one request, and nothing is written", async (t) => {
    const { host, root } = local(t);
    const looks = await Promise.all([1, 2, 3].map(() => host.look(root)));
    assert.deepEqual([looks[0]?.machine.uid, looks[0]?.root, looks[0]?.claims], [process.getuid?.(), root, {}]);
    assert.equal(looks[0], looks[2]);
    const { starts, requests, replies } = host.stats;
    assert.deepEqual([starts, requests, replies], [1, 1, 1]);
    assert.equal(existsSync(root), false);
});

test("after a change the next look asks again, by the same agent", async (t) => {
    const { host, root } = local(t);
    const before = await host.look(root);
    host.changed(root);
    assert.notEqual(await host.look(root), before);
    assert.deepEqual([host.stats.starts, host.stats.requests], [1, 2]);
});

test("contents that the host has are not sent again; the rest goes in two round trips", async (t) => {
    const { host, root, folder } = local(t);
    const big = Buffer.alloc(5_000_000, "x");
    writeFileSync(join(folder, "big"), big);
    const contents: Content[] = [
        content("one"),
        content(""),
        { sha256: sha256(big), size: big.length, path: join(folder, "big") },
    ];
    const said: string[] = [];
    await host.send(root, contents, (text) => said.push(text));
    assert.deepEqual([host.stats.requests, host.stats.sent > 5_000_000], [2, true]);
    assert.deepEqual(readFileSync(join(root, "store", sha256(big).slice(0, 2), sha256(big))), big);
    const sent = host.stats.sent;
    await host.send(root, contents);
    assert.deepEqual([host.stats.requests, host.stats.sent - sent < 1000], [3, true]);
    assert.deepEqual(await host.fetch(root, sha256(big)), big);
    assert.deepEqual(readdirSync(join(root, "store", "incoming")), []);
});

test("a file that is not what was announced leaves nothing behind", async (t) => {
    const { host, root } = local(t);
    await assert.rejects(host.send(root, [{ ...content("two"), size: 4 }]), (error: HostError) => {
        assert.deepEqual(
            [error.report.code, error.report.message],
            ["bad-content", "cannot send: 1 of the 4 bytes that were announced are missing"],
        );
        return true;
    });
    await assert.rejects(host.send(root, [{ ...content("two"), sha256: sha256("three") }]), (error: HostError) => {
        assert.deepEqual([error.report.found, error.report.expected], [sha256("two"), sha256("three")]);
        return true;
    });
    assert.deepEqual(readdirSync(join(root, "store")), ["incoming"]);
    assert.deepEqual(readdirSync(join(root, "store", "incoming")), []);
});

test("a call that is given up ends on the host", async (t) => {
    const { host } = local(t);
    const giveUp = new AbortController();
    const began = Date.now();
    const call = host.call("exec", { argv: ["sleep", "60"], timeout: 60 }, { signal: giveUp.signal });
    setTimeout(() => giveUp.abort(), 500);
    await assert.rejects(call, (error: HostError) => error.report.code === "cancelled");
    assert.ok(Date.now() - began < 10_000);
});

test("an agent that dies is a lost connection for those who wait, and the next call starts another", async (t) => {
    const { host } = local(t);
    const call = host.call("exec", { argv: ["sh", "-c", "kill -9 $PPID; sleep 5"] });
    await assert.rejects(call, (error: HostError) => {
        assert.deepEqual([error.report.code, error.report.message], ["lost", "the connection was lost during exec"]);
        return true;
    });
    const { stdout } = await host.call<{ stdout: string }>("exec", { argv: ["echo", "here"] });
    assert.deepEqual([stdout, host.stats.starts], ["here\n", 2]);
});

test("a Python that is not there is said once, with what was tried", async (t) => {
    const { host, root } = local(t, { python: "/no/such python" });
    for (const call of [host.look(root), host.look(root), host.call("hello", {})]) {
        await assert.rejects(call, (error: HostError) => {
            assert.deepEqual([error.report.code, error.report.found], ["no-python", "tried /no/such python"]);
            return true;
        });
    }
    assert.equal(host.stats.starts, 1);
});

test("nothing of the agent is left once it is closed", async (t) => {
    const { host } = local(t);
    const { stdout } = await host.call<{ stdout: string }>("exec", { argv: ["sh", "-c", "echo $PPID"] });
    await host.close();
    await pause(100);
    assert.equal(existsSync(`/proc/${stdout.trim()}`), false);
});

test("an agent that has begun and then says nothing is an error within the limit of a look", async (t) => {
    const { root, folder } = local(t);
    const python = join(folder, "python");
    const answers = `case "$*" in *version_info*) exec python3 "$@";; esac`;
    writeFileSync(python, `#!/bin/sh\n${answers}\npython3 "$@" | { head -c 32; exec cat >/dev/null; }\n`, {
        mode: 0o755,
    });
    const host = connectHost(connection.parse({ name: "here", type: "local", python }), 500);
    t.after(() => host.close());
    await assert.rejects(host.look(root), (error: HostError) => {
        assert.deepEqual(
            [error.report.code, error.message],
            ["silent", "no answer to a look within 0.5 s, though the agent had begun"],
        );
        return true;
    });
});

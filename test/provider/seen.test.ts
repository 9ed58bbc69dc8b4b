import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { movedDonors, noteDonors } from "../../provider/donors/shown";
import { Seen } from "../../provider/seen";

const state = { owner: "o1", service: "s", variables: { A: "1", B: "2" }, pid: 7 };

function folderOf(t: TestContext): string {
    const folder = mkdtempSync(join(tmpdir(), "seen-"));
    t.after(() => rmSync(folder, { recursive: true }));
    return folder;
}

test("what another process of the same command saw otherwise is named by its paths, but for what changes by itself", (t) => {
    const folder = folderOf(t);
    const [preview, up] = [new Seen(folder, process.pid, 11), new Seen(folder, process.pid, 12)];
    preview.note("urn", state, ["pid"]);
    up.note("urn", { ...state, pid: 8 }, ["pid"]);
    assert.deepEqual(up.moved("urn"), []);
    up.note("urn", { ...state, service: "x", variables: { A: "edited", C: "3" } }, ["pid"]);
    assert.deepEqual(up.moved("urn"), ["service", "variables.A", "variables.B", "variables.C"]);
    assert.deepEqual(up.moved("another"), []);
});

test("who takes over what an owner has made is known to the command whose preview saw it, and the owner's id is not in the file", (t) => {
    const folder = folderOf(t);
    const [preview, up] = [new Seen(folder, process.pid, 11), new Seen(folder, process.pid, 12)];
    preview.inherit("0123456789abcdef", "urn:new");
    assert.equal(up.heir("0123456789abcdef"), "urn:new");
    assert.equal(up.heir("fedcba9876543210"), undefined);
    assert.equal(new Seen(folder, 1, 13).heir("0123456789abcdef"), undefined);
    assert.equal(readFileSync(join(folder, `seen-${process.pid}`), "utf8").includes("0123456789abcdef"), false);
});

test("without a preview nothing has moved, nor has it for another command", (t) => {
    const folder = folderOf(t);
    new Seen(folder, 1, 11).note("urn", { ...state, service: "x" });
    const up = new Seen(folder, process.pid, 12);
    up.note("urn", state);
    assert.deepEqual(up.moved("urn"), []);
    new Seen(undefined).note("urn", state);
    assert.deepEqual(new Seen(undefined).moved("urn"), []);
});

test("nobody else can read it, it holds no value, and it goes after its engine", (t) => {
    const folder = folderOf(t);
    const gone = join(folder, "seen-99999999");
    writeFileSync(gone, "");
    new Seen(folder, process.pid, 11).note("urn", { ...state, variables: { A: "s3cr3t" } });
    assert.equal(existsSync(gone), false);
    const [name = ""] = readdirSync(folder);
    assert.equal(name, `seen-${process.pid}`);
    assert.equal(statSync(join(folder, name)).mode & 0o077, 0);
    assert.equal(readFileSync(join(folder, name), "utf8").includes("s3cr3t"), false);
});

test("a donor that has other bytes than the preview was told is named; a new stamp of the same bytes is no move", (t) => {
    const folder = folderOf(t);
    const [preview, up] = [new Seen(folder, process.pid, 11), new Seen(folder, process.pid, 12)];
    const pins = (digest: string, stamp: string) => ({
        pins: { "ct129:/root/ml-env": { torch: { version: "2.11.0", digest, stamp, tags: [] } } },
    });
    noteDonors(preview, "urn", pins("a", "1"));
    noteDonors(up, "urn", pins("a", "2"));
    assert.deepEqual(movedDonors(up, "urn"), []);
    noteDonors(up, "urn", pins("b", "3"));
    assert.deepEqual(movedDonors(up, "urn"), ["ct129:/root/ml-env.torch"]);
});

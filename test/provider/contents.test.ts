/** The cache of what was taken from donors: what stays in it, and what goes. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
    appendFileSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    renameSync,
    rmSync,
    statSync,
    utimesSync,
    writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { Contents } from "../../provider/donors/contents";
import { Fetched } from "../../provider/donors/fetched";
import { RESUMED } from "../../provider/host/resumed";

const DAY = 86_400_000;
const origin = { host: "ct129", where: "/root/ml-env: site/torch/c.so" };
let folder: string;

beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "contents-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Adds contents of so many bytes by an earlier run, last used so many days ago. */
function earlier(...ages: { size: number; days: number }[]): string[] {
    const contents = new Contents(folder);
    return ages.map(({ size, days }, at) => {
        const sha256 = contents.add(Buffer.alloc(size, at + 1));
        const then = new Date(Date.now() - days * DAY);
        utimesSync(contents.path(sha256), then, then);
        return sha256;
    });
}

it("what nobody used for 30 days goes, and what is used stays for 30 more", async () => {
    const [old = "", used = "", young = ""] = earlier(
        { size: 1, days: 31 },
        { size: 2, days: 31 },
        { size: 3, days: 29 },
    );
    const contents = new Contents(folder);
    assert.equal(contents.has(used), true);
    await contents.tidy();
    assert.deepEqual(
        [old, used, young].map((one) => existsSync(contents.path(one))),
        [false, true, true],
    );
    await new Contents(folder).tidy(Date.now() + 29 * DAY);
    assert.equal(existsSync(contents.path(used)), true);
});

it("beyond its bound what was used longest ago goes first, and nothing that this run uses", async () => {
    const all = earlier({ size: 400, days: 3 }, { size: 400, days: 2 }, { size: 400, days: 1 });
    const contents = new Contents(folder, 900);
    const own = contents.add(Buffer.alloc(2000));
    await contents.tidy();
    assert.deepEqual(
        [...all, own].map((one) => existsSync(contents.path(one))),
        [false, true, true, true],
    );
});

it("a file that is shorter than its content is not taken for it", () => {
    const [sha256 = ""] = earlier({ size: 100, days: 0 });
    const contents = new Contents(folder);
    writeFileSync(contents.path(sha256), Buffer.alloc(60));
    assert.deepEqual([contents.has(sha256, 100), contents.has(sha256, 60)], [false, true]);
});

it("what a writer left that died goes after a day, and nobody else can read any of it", async () => {
    const contents = new Contents(folder);
    const { path } = contents.begin("a".repeat(64));
    writeFileSync(path, "half");
    await contents.tidy();
    assert.equal(existsSync(path), true);
    await contents.tidy(Date.now() + 25 * 3_600_000);
    assert.equal(existsSync(path), false);
    const sha256 = contents.add(Buffer.from("x"));
    const modes = [contents.path(sha256), join(contents.path(sha256), "..")].map((one) => statSync(one).mode & 0o077);
    assert.deepEqual(modes, [0, 0]);
});

it("a content that two runs bring at once is whole", () => {
    mkdirSync(folder, { recursive: true });
    const data = Buffer.from("the same");
    const [one, two] = [new Contents(folder), new Contents(folder)];
    assert.equal(one.add(data), two.add(data));
    assert.equal(two.sizeOf(one.add(data)), data.length);
});

/** All bytes that a reader gets. */
async function whole(bytes: AsyncIterable<Buffer>): Promise<string> {
    const pieces: Buffer[] = [];
    for await (const piece of bytes) {
        pieces.push(piece);
    }
    return Buffer.concat(pieces).toString();
}

it("a content is read while it comes, also by who begins just when it becomes whole", async () => {
    const contents = new Contents(folder);
    const fetched = new Fetched(createHash("sha256").update("abcdef").digest("hex"), 6, contents, origin);
    const early = whole(fetched.bytes());
    fetched.write(Buffer.from("abc"));
    const middle = whole(fetched.bytes());
    await Promise.resolve();
    fetched.write(Buffer.from("def"));
    const late = whole(fetched.bytes());
    assert.deepEqual(await Promise.all([early, middle, late]), ["abcdef", "abcdef", "abcdef"]);
    assert.equal(contents.has(fetched.sha256, 6), true);
});

it("what comes with other bytes, or not to its end, is in nobody's cache, and its readers learn why", async () => {
    const contents = new Contents(folder);
    const other = new Fetched("0".repeat(64), 3, contents, origin);
    const reading = whole(other.bytes());
    assert.throws(() => other.write(Buffer.from("abc")), /the donor was changed while its files were fetched/);
    other.fail(new Error("changed"));
    await assert.rejects(reading, /changed/);
    const cut = new Fetched("1".repeat(64), 3, contents, origin);
    const waiting = whole(cut.bytes());
    cut.write(Buffer.from("ab"));
    cut.fail(new Error("the line was cut"));
    await assert.rejects(waiting, /the line was cut/);
    assert.deepEqual(readdirSync(join(folder, "incoming")), []);
});

/** A large content, and one fetch of it by a run of its own. */
const large = Buffer.alloc(RESUMED + 7, "0123456789abcdef");
const ofLarge = (): Fetched =>
    new Fetched(createHash("sha256").update(large).digest("hex"), large.length, new Contents(folder), origin);

it("a large content whose line was cut goes on where it was, and who reads gets all of it", async () => {
    const cut = ofLarge();
    cut.write(large.subarray(0, RESUMED));
    cut.fail(new Error("the line was cut"));
    const fetched = ofLarge();
    assert.equal(await fetched.resume(), RESUMED);
    assert.equal(fetched.left, 7);
    const all = whole(fetched.bytes());
    const rest = whole(fetched.bytes(RESUMED + 1));
    fetched.write(large.subarray(RESUMED));
    assert.equal(await all, large.toString());
    assert.equal(await rest, large.subarray(RESUMED + 1).toString());
    assert.equal(new Contents(folder).has(fetched.sha256, large.length), true);
    assert.deepEqual(readdirSync(join(folder, "incoming")), []);
});

it("of two runs one goes on with what was cut, and of what a killed one left the next does", async () => {
    const cut = ofLarge();
    cut.write(large.subarray(0, RESUMED));
    cut.fail(new Error("the line was cut"));
    const [one, two] = [ofLarge(), ofLarge()];
    assert.deepEqual([await one.resume(), await two.resume()], [RESUMED, 0]);
    const [name = ""] = readdirSync(join(folder, "incoming"));
    const gone = spawnSync("true").pid;
    renameSync(join(folder, "incoming", name), join(folder, "incoming", `${one.sha256}.${gone}.abcd`));
    assert.equal(await ofLarge().resume(), RESUMED);
});

it("a beginning with other bytes is found out by the hash of the whole, and is not gone on with again", async () => {
    const cut = ofLarge();
    cut.write(Buffer.alloc(RESUMED, "x"));
    cut.fail(new Error("the line was cut"));
    const fetched = ofLarge();
    assert.equal(await fetched.resume(), RESUMED);
    assert.throws(() => fetched.write(large.subarray(RESUMED)), /the donor was changed while its files were fetched/);
    assert.equal(await ofLarge().resume(), 0);
});

it("what was cut after its last byte is whole", async () => {
    const cut = ofLarge();
    cut.write(large.subarray(0, RESUMED));
    cut.fail(new Error("the line was cut"));
    appendFileSync(join(folder, "incoming", `${cut.sha256}.left`), large.subarray(RESUMED));
    const fetched = ofLarge();
    assert.equal(await fetched.resume(), large.length);
    assert.equal(fetched.left, 0);
    assert.equal(await whole(fetched.bytes()), large.toString());
});

/** Archives that overlays come from: unpacked into a cache of the test's own, from files and from a real server. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
    existsSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    rmSync,
    truncateSync,
    writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { Header } from "tar";
import { archiveTree } from "../../provider/archives/archives";
import { Contents } from "../../provider/donors/contents";

let folder: string;
let contents: Contents;

beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "archives-"));
    contents = new Contents(join(folder, "cache", "contents"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Entry = { path: string; text?: string; mode?: number; type?: "SymbolicLink" | "Link" | "FIFO"; linkpath?: string };

/** A tar of these entries, byte for byte. */
function tar(...entries: Entry[]): Buffer {
    const blocks = entries.flatMap(({ path, text = "", mode = 0o644, type, linkpath }) => {
        const header = new Header({ path, mode, size: text.length, type: type ?? "File", linkpath });
        const block = Buffer.alloc(512);
        header.encode(block, 0);
        return [block, Buffer.concat([Buffer.from(text), Buffer.alloc((512 - (text.length % 512)) % 512)])];
    });
    return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

function write(name: string, data: Buffer): string {
    const path = join(folder, name);
    writeFileSync(path, data);
    return path;
}

async function texts(archive: string, sha256?: string): Promise<Record<string, string>> {
    const { files } = await archiveTree({ archive, sha256 }, contents);
    return Object.fromEntries(
        files.map(({ path, mode, content }) => [path, `${mode} ${readFileSync(content.path, "utf8")}`]),
    );
}

const kernel: Entry[] = [
    { path: "./k/__init__.py", text: "x = 1\n" },
    { path: "./k/tool", text: "#!/bin/sh\n", mode: 0o755 },
    { path: "./k/__pycache__/a.pyc", text: "old" },
    { path: "./k/libk.so", type: "SymbolicLink", linkpath: "libk.so.1" },
    { path: "./k/libk.so.1", text: "elf" },
    { path: "k/copy.so", type: "Link", linkpath: "k/libk.so.1" },
];
const unpacked = {
    "k/__init__.py": "644 x = 1\n",
    "k/copy.so": "644 elf",
    "k/libk.so": "644 elf",
    "k/libk.so.1": "644 elf",
    "k/tool": "755 #!/bin/sh\n",
};

it("a .tar.gz and a .tar.zst bring the same files, links as what they lead to, without bytecode", async () => {
    assert.deepEqual(await texts(write("k.tar.gz", gzipSync(tar(...kernel)))), unpacked);
    assert.deepEqual(await texts(write("k.tar.zst", zstdCompressSync(tar(...kernel)))), unpacked);
});

it("what leads out of an archive is refused, all of it at once, and leaves nothing", async () => {
    const bad = write(
        "bad.tar.gz",
        gzipSync(
            tar(
                { path: "../evil.py", text: "" },
                { path: "/etc/evil", text: "" },
                { path: "k/a/../../../evil", text: "" },
                { path: "k/up", type: "SymbolicLink", linkpath: "../../etc/passwd" },
                { path: "k/abs", type: "SymbolicLink", linkpath: "/etc/passwd" },
                { path: "k/hard", type: "Link", linkpath: "../x" },
                { path: "k/pipe", type: "FIFO" },
            ),
        ),
    );
    await assert.rejects(archiveTree({ archive: bad }, contents), (error: Error) => {
        for (const part of [
            "../evil.py leads out of it",
            "/etc/evil leads out of it",
            "k/a/../../../evil leads out of it",
            "the link k/up leads out of it, to ../../etc/passwd",
            "the link k/abs leads out of it, to /etc/passwd",
            "the link k/hard leads out of it, to ../x",
            "k/pipe is a FIFO, which no package has",
        ]) {
            assert.ok(error.message.includes(part), error.message);
        }
        return true;
    });
    assert.equal(existsSync(join(folder, "cache")), false);
});

it("an archive that is cut, or is none, is refused and leaves nothing half", async () => {
    const whole = gzipSync(tar({ path: "k.py", text: "x".repeat(100_000) }));
    await assert.rejects(
        texts(write("cut.tar.gz", whole.subarray(0, whole.length - 20))),
        /cut\.tar\.gz cannot be unpacked: unexpected end of file/,
    );
    await assert.rejects(texts(write("none.tar.gz", Buffer.from("hello"))), /is neither gzip nor zstd/);
    assert.deepEqual(readdirSync(join(folder, "cache", "contents", "incoming")), []);
});

it("an archive that is cut between two files is refused, as a second zstd frame is that Node does not read", async () => {
    const whole = tar({ path: "a.py", text: "1" }, { path: "b.py", text: "2" });
    const end = /its end is missing: it was cut, or has several zstd frames \(pzstd\); pack it again with tar/;
    await assert.rejects(texts(write("cut.tar.gz", gzipSync(whole.subarray(0, 1024)))), end);
    const frames = [whole.subarray(0, 1024), whole.subarray(1024)];
    await assert.rejects(texts(write("two.tar.zst", Buffer.concat(frames.map((part) => zstdCompressSync(part))))), end);
    assert.deepEqual(await texts(write("two.tar.gz", Buffer.concat(frames.map((part) => gzipSync(part))))), {
        "a.py": "644 1",
        "b.py": "644 2",
    });
});

it("a sparse file is refused in either form that tar packs it in: its bytes would be others", async () => {
    const tree = join(folder, "tree");
    mkdirSync(join(tree, "k"), { recursive: true });
    writeFileSync(join(tree, "k/data.bin"), "");
    truncateSync(join(tree, "k/data.bin"), 1 << 20);
    for (const format of ["gnu", "pax"]) {
        const archive = join(folder, `${format}.tar.gz`);
        execFileSync("tar", ["-czSf", archive, `--format=${format}`, "-C", tree, "."]);
        await assert.rejects(texts(archive), /k\/\S*data.bin is a (sparse file|SparseFile)/);
    }
});

it("a download that says nothing any more ends with the command", async () => {
    const server = createServer((_request, answer) => void answer.write(gzipSync("a").subarray(0, 10)));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
        const command = new AbortController();
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/k.tar.gz`;
        const from = { archive: url, sha256: "0".repeat(64) };
        const progress = () => command.abort();
        await assert.rejects(archiveTree(from, contents, progress, command.signal), /cannot be unpacked: .*abort/);
    } finally {
        server.closeAllConnections();
        server.close();
    }
});

it("an archive with another sha256 than declared is refused, from a file and from a URL", async () => {
    const data = gzipSync(tar(...kernel));
    const sha256 = createHash("sha256").update(data).digest("hex");
    const path = write("k.tar.gz", data);
    await assert.rejects(texts(path, "0".repeat(64)), new RegExp(`has the sha256 ${sha256}, expected 0{64}`));
    let asked = 0;
    const server = createServer((request, answer) => {
        asked++;
        request.url === "/k.tar.gz" ? answer.end(data) : answer.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/k.tar.gz`;
        await assert.rejects(texts(url, "0".repeat(64)), new RegExp(`has the sha256 ${sha256}, expected 0{64}`));
        assert.deepEqual(await texts(url, sha256), unpacked);
        assert.deepEqual(await texts(url, sha256), unpacked);
        assert.equal(asked, 2);
        await assert.rejects(texts(`${url}x`, "1".repeat(64)), /it is answered with 404 Not Found/);
    } finally {
        server.close();
    }
});

it("the account in a URL is told to its server as a header, and to nobody else", async () => {
    const data = gzipSync(tar(...kernel));
    const sha256 = createHash("sha256").update(data).digest("hex");
    const asked: (string | undefined)[] = [];
    const server = createServer((request, answer) => {
        asked.push(request.headers.authorization);
        request.url === "/k.tar.gz" ? answer.end(data) : answer.writeHead(401).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
        const at = `127.0.0.1:${(server.address() as AddressInfo).port}`;
        const url = `http://user:p%40ss@${at}/k.tar.gz`;
        const said: string[] = [];
        const tell = (text: string) => void said.push(text);
        await archiveTree({ archive: url, sha256 }, contents, tell);
        assert.equal(said[0], `unpacking http://…@${at}/k.tar.gz: 0 MB`);
        const refusals = [
            [
                `${url}x`,
                "1".repeat(64),
                `http://…@${at}/k.tar.gzx cannot be unpacked: it is answered with 401 Unauthorized`,
            ],
            [url, "0".repeat(64), `http://…@${at}/k.tar.gz has the sha256 ${sha256}, expected ${"0".repeat(64)}`],
        ] as const;
        for (const [archive, expected, message] of refusals) {
            await assert.rejects(archiveTree({ archive, sha256: expected }, contents), { message });
        }
        assert.deepEqual(asked, Array(3).fill(`Basic ${Buffer.from("user:p@ss").toString("base64")}`));
    } finally {
        server.close();
    }
});

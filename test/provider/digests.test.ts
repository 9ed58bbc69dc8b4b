import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { canonical } from "../../provider/canonical";
import { treeOf } from "../../provider/files";
import { baseKey, digestOf, envId, keysId, releaseId, saltFrom, sha256 } from "../../provider/resources/digests";
import { normalName, wheelName } from "../../provider/resources/distributionName";

// These vectors are part of the contract: a release or environment that is on a host must keep its name with a newer version.
const RECIPE = {
    version: 1 as const,
    base: { kind: "adopt" as const, path: "/root/venv", fingerprint: "f1" },
    overlays: "o1",
    patches: "",
};

test("canonical JSON sorts names, drops what is undefined and keeps the order of lists", () => {
    assert.equal(canonical({ b: [2, 1], a: { d: undefined, c: null } }), '{"a":{"c":null},"b":[2,1]}');
});

test("the release id is the digest of the recipe", () => {
    const text =
        '{"base":{"fingerprint":"f1","kind":"adopt","path":"/root/venv"},"overlays":"o1","patches":"","version":1}';
    assert.equal(releaseId(RECIPE), sha256(text).slice(0, 12));
    assert.equal(releaseId(RECIPE), "8ddb4d2c0731");
});

test("the key of a managed base follows each of its fields", () => {
    const base = { python: "3.12", requirements: "a".repeat(64), noDeps: true };
    assert.equal(baseKey(base), "992c29dba2f2");
    const others = [
        { ...base, python: "3.11" },
        { ...base, requirements: "b" },
        { ...base, noDeps: false },
        { ...base, indexUrl: "https://x/" },
        { ...base, findLinks: ["/w"] },
    ];
    assert.equal(new Set([base, ...others].map(baseKey)).size, 6);
});

test("the id of an environment is keyed and does not mind the order of names", () => {
    const salt = "00".repeat(16);
    assert.equal(envId(salt, { B: "2", A: "1" }), "cc69d445ac8d");
    assert.equal(envId(salt, { A: "1", B: "2" }), envId(salt, { B: "2", A: "1" }));
    assert.notEqual(envId("11".repeat(16), { A: "1", B: "2" }), envId(salt, { A: "1", B: "2" }));
});

test("no keys have no id", () => {
    assert.equal(keysId("00".repeat(16), {}), "");
    assert.equal(keysId("00".repeat(16), { apiKey: undefined, adminApiKey: "x" }).length, 12);
});

test("salts differ by purpose and are the same for the same seed", () => {
    const seed = Buffer.from("seed");
    assert.equal(saltFrom(seed, "keys"), saltFrom(seed, "keys"));
    assert.notEqual(saltFrom(seed, "keys"), saltFrom(seed, "environment"));
    assert.match(saltFrom(seed, "keys"), /^[0-9a-f]{32}$/);
});

test("a wheel's name says distribution and version", () => {
    assert.deepEqual(wheelName("wheels/sgl_kernel-0.3.21+cu130-cp310-abi3-manylinux2014_x86_64.whl"), {
        filename: "sgl_kernel-0.3.21+cu130-cp310-abi3-manylinux2014_x86_64.whl",
        name: "sgl-kernel",
        version: "0.3.21+cu130",
    });
    assert.equal(wheelName("x.whl"), undefined);
    assert.equal(normalName("NVIDIA_cudnn.cu12"), "nvidia-cudnn-cu12");
});

test("a tree is its files by path, bytes and mode; bytecode is no part of it", async (t) => {
    const top = await mkdtemp(join(tmpdir(), "tree-"));
    t.after(() => rm(top, { recursive: true }));
    await mkdir(join(top, "pkg/__pycache__"), { recursive: true });
    await writeFile(join(top, "pkg/__init__.py"), "x = 1\n");
    await writeFile(join(top, "pkg/__pycache__/a.pyc"), "");
    await writeFile(join(top, "pkg/tool"), "#!", { mode: 0o755 });
    await symlink("__init__.py", join(top, "pkg/link.py"));
    const files = (await treeOf(top)).map(({ path, mode, content }) => [path, mode, content.sha256]);
    assert.deepEqual(files, [
        ["pkg/__init__.py", "644", sha256("x = 1\n")],
        ["pkg/link.py", "644", sha256("x = 1\n")],
        ["pkg/tool", "755", sha256("#!")],
    ]);
    await symlink("pkg", join(top, "again"));
    await assert.rejects(treeOf(top), {
        message: `${join(top, "again")} is a link to a directory; copy what it points to`,
    });
});

test("equal values have equal digests", () => {
    assert.equal(digestOf({ a: 1, b: 2 }), digestOf({ b: 2, a: 1 }));
});

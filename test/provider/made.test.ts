import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { uvFor } from "../../provider/host/controlUv";
import { HostError } from "../../provider/host/host";
import { bench, checked, created, eachTest, placed, service } from "./fixture";
import { asset } from "./harness";

const managed = {
    ...placed,
    name: "v",
    base: { python: "3.12", requirements: asset({ text: "sglang==0.5.23\n", hash: "5".repeat(64) }) },
};

/** The first bytes of a program: of this processor, and with this loader of a C library, if any. */
function elf(processor: number, loader?: string): Buffer {
    const head = Buffer.alloc(256);
    head.write("\x7fELF\x02\x01", "latin1");
    head.writeUInt16LE(processor, 18);
    head.writeBigUInt64LE(64n, 32);
    head.writeUInt16LE(56, 54);
    head.writeUInt16LE(loader === undefined ? 0 : 1, 56);
    if (loader !== undefined) {
        head.writeUInt32LE(3, 64);
        head.writeBigUInt64LE(128n, 64 + 8);
        head.writeBigUInt64LE(BigInt(loader.length + 1), 64 + 32);
        head.write(`${loader}\0`, 128, "latin1");
    }
    return head;
}

describe("a host without uv", () => {
    const { PATH, XDG_CACHE_HOME = "" } = process.env;
    let folder: string;

    before(() => {
        folder = mkdtempSync(join(tmpdir(), "uv-"));
        process.env.PATH = folder;
        process.env.XDG_CACHE_HOME = folder;
    });
    after(() => {
        Object.assign(process.env, { PATH, XDG_CACHE_HOME });
        rmSync(folder, { recursive: true });
    });
    const put = (content: Buffer | string): void => {
        writeFileSync(join(folder, "uv"), content);
        chmodSync(join(folder, "uv"), 0o755);
    };
    const x86 = { arch: "x86_64", libc: "glibc" } as const;

    test("is offered one that runs there: by processor and C library", async () => {
        const cases: [Buffer | string, Parameters<typeof uvFor>[0], boolean][] = [
            [elf(62, "/lib64/ld-linux-x86-64.so.2"), x86, true],
            [elf(62, "/lib64/ld-linux-x86-64.so.2"), { arch: "x86_64", libc: "musl" }, false],
            [elf(62, "/lib/ld-musl-x86_64.so.1"), x86, false],
            [elf(62), { arch: "x86_64", libc: "musl" }, true],
            [elf(183), x86, false],
            [elf(183), { arch: "aarch64", libc: "glibc" }, true],
            ["#!/bin/sh\nexec pyenv exec uv\n", x86, false],
        ];
        for (const [content, machine, fits] of cases) {
            put(content);
            assert.equal(await uvFor(machine), fits ? join(folder, "uv") : undefined, JSON.stringify(machine));
        }
    });

    const eachTry = (): unknown[] =>
        bench.host.calls.filter(({ op }) => op === "venv.make").map(({ args }) => (args.base as { uv: unknown }).uv);
    const without = (): void => {
        bench.host.instead.set("venv.make", async (args) => {
            if ((args as unknown as { base: { uv: unknown } }).base.uv === "ask") {
                throw new HostError("here", { code: "no-uv", message: "this host has no uv" });
            }
            return bench.host.done("venv.make", args);
        });
    };

    eachTest();

    test("gets ours, and is asked a second time only then", async () => {
        put(elf(62));
        await created("Venv", managed);
        assert.deepEqual(eachTry(), ["ask"]);
        without();
        bench.host.calls.length = 0;
        await created("Venv", managed);
        const sent = bench.host.sent.at(-1);
        assert.equal(sent !== undefined && "path" in sent && sent.path, join(folder, "uv"));
        assert.deepEqual(eachTry(), ["ask", sent?.sha256]);
    });

    test("does without when ours would not run there", async () => {
        put(elf(183));
        without();
        await created("Venv", managed);
        assert.deepEqual(eachTry(), ["ask", null]);
    });
});

describe("what was made", () => {
    eachTest();

    test("is told with what the base lacks and which files two distributions own", async () => {
        bench.host.instead.set("venv.make", async (args) => {
            const shared = ["a/x.py", "a/y.py"].map((path) => ({ path, owners: ["one", "two"], bytes: "two 2" }));
            const replaced = ["sgl-kernel 0.3 went, as its package sgl_kernel is that of sglang-kernel 0.4"];
            const notes = ["orjson", "zmq", "uvicorn"].map(
                (name) => `sglang 0.5.23 wants ${name}, which is not installed`,
            );
            return {
                ...(bench.host.done("venv.make", args) as object),
                made: true,
                notes,
                shared,
                replaced,
                applied: ["a/z.py"],
                added: ["a/zz.py"],
                leftovers: ["~orch was left by an interrupted install"],
            };
        });
        const { inputs } = await created("Venv", managed);
        const kept = `${inputs.root}/venvs/v/releases/${inputs.release}.json`;
        assert.deepEqual(bench.provider.engine.kept, [
            "left-overs in the adopted base; what no overlay replaces is kept:\n  ~orch was left by an interrupted install",
            `3 requirements that the base never met: sglang 0.5.23 wants orjson, which is not installed, and 2 more; all stand under \`notes\` in ${kept} on the host`,
            "sgl-kernel 0.3 went, as its package sgl_kernel is that of sglang-kernel 0.4",
            "patches that the base has already; these files stay as they are:\n  a/z.py",
            "files that patches add, as the venv has none of these names; if that is not meant, correct `module` or `path`:\n  a/zz.py",
            "files that several distributions own:\n  a/x.py and 1 more: one and two; the bytes are those of two 2",
        ]);
    });

    test("passes with the requirements that the user accepts as unmet, and these change no release", async () => {
        const { state, inputs } = await created("Venv", managed);
        const news = await checked("Venv", { ...managed, accept: ["torch"] }, inputs);
        assert.deepEqual((await bench.provider.diff("Venv", state, inputs, news)).paths, {});
        await bench.provider.create("Venv", news);
        assert.deepEqual(bench.host.calls.at(-1)?.args.checks, { accept: ["torch"] });
    });

    test("of a service is told with what the gates warn of", async () => {
        bench.host.instead.set("service.activate", async (args) => ({
            ...(bench.host.done("service.activate", args) as object),
            warnings: ["gate environment: SGLANG_HSDUMP is read by nothing; nearest: SGLANG_HS_DUMP"],
        }));
        await created("SglangService", service);
        assert.deepEqual(bench.provider.engine.kept, [
            "gate environment: SGLANG_HSDUMP is read by nothing; nearest: SGLANG_HS_DUMP",
        ]);
    });
});

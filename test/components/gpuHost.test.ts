import assert from "node:assert/strict";
import { before, beforeEach, it } from "node:test";
import * as pulumi from "@pulumi/pulumi";
import { GpuHost, type GpuHostArgs } from "../../components";
import { type Engine, engine, inputsOf, named, seen, settled } from "./mocks";

let mock: Engine;
before(async () => {
    mock = await engine();
});
beforeEach(() => {
    mock.registered.length = 0;
});

const lock = new pulumi.asset.StringAsset("sglang==0.5.23\n");
const patch = new pulumi.asset.StringAsset("TEXT = 1\n");

const args: GpuHostArgs = {
    connection: { host: "10.1.2.200", user: "root", password: "pass" },
    venvs: {
        dflash: {
            base: { python: "3.12", requirements: lock },
            overlays: [{ from: { index: "torch==2.11.0+cu130" } }],
            patches: [{ module: "a.b", file: patch }],
            keep: 5,
        },
    },
    services: {
        chat: {
            venv: "dflash",
            model: "/data/m",
            port: 30001,
            env: { NCCL_PROTO: "LL", HF_TOKEN: pulumi.secret("hf") },
            gpus: [1, 2],
            flags: { "tp-size": 2 },
            apiKey: pulumi.secret("key"),
        },
    },
};

const connection = secret({ name: "ct200", host: "10.1.2.200", user: "root", password: "pass" });

/** A property with a secret in it, as the mocks see it: they do not say which part it is. */
function secret(value: unknown) {
    return { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", value };
}

it("a host makes five resources, named after it, in its component", async () => {
    const host = new GpuHost("ct200", args);
    await settled(host.children);
    assert.deepEqual(mock.registered.map(({ type, name }) => `${type.split(":").at(-1)} ${name}`).sort(), [
        "EnvVars ct200-chat-env",
        "GpuHost ct200",
        "PackageOverlay ct200-dflash-overlays",
        "SglangService ct200-chat",
        "SourcePatch ct200-dflash-patches",
        "Venv ct200-dflash",
    ]);
    for (const child of host.children) {
        assert.match((await seen(child.urn)).value, /::sglang:index:GpuHost\$sglang:index:/);
    }
});

it("each resource gets what is declared, and ids of the others", async () => {
    const host = new GpuHost("ct200", args);
    await settled(host.children);
    const at = { connection, root: "/opt/sglang-fleet" };
    assert.deepEqual(inputsOf(mock, "PackageOverlay", "ct200-dflash-overlays"), {
        ...at,
        venv: "dflash",
        base: { python: "3.12" },
        overlays: [{ from: { index: "torch==2.11.0+cu130" } }],
    });
    const { patches, ...sourcePatch } = inputsOf(mock, "SourcePatch", "ct200-dflash-patches");
    assert.deepEqual(sourcePatch, { ...at, venv: "dflash" });
    assert.deepEqual(
        (patches as { module: string }[]).map(({ module }) => module),
        ["a.b"],
    );
    const { base, ...venv } = inputsOf(mock, "Venv", "ct200-dflash");
    assert.equal((base as { python: string }).python, "3.12");
    assert.deepEqual(venv, {
        ...at,
        name: "dflash",
        overlays: "digest of overlays",
        packages: { torch: "2.11.0 abc" },
        patches: "digest of patches",
        files: { "module:a.b": "file abc" },
        keep: 5,
    });
    assert.deepEqual(inputsOf(mock, "EnvVars", "ct200-chat-env"), {
        ...at,
        service: "chat",
        variables: secret({ NCCL_PROTO: "LL", HF_TOKEN: "hf", CUDA_VISIBLE_DEVICES: "1,2" }),
    });
    assert.deepEqual(inputsOf(mock, "SglangService", "ct200-chat"), {
        ...at,
        name: "chat",
        venv: "dflash",
        release: "release of venv",
        env: "digest of env",
        model: "/data/m",
        port: 30001,
        flags: { "tp-size": 2 },
        apiKey: secret("key"),
    });
});

it("a URL with an account is a secret wherever a venv or an overlay may have one, and the others are shown", async () => {
    const [clear, account] = ["https://h/simple", "https://u:p@h/simple"];
    const index = { indexUrl: clear, extraIndexUrl: [clear, account], findLinks: ["/opt/wheels@2", account] };
    const overlays = [
        { from: { index: "torch==2.11.0+cu130", ...index, indexUrl: account } },
        { packages: ["k"], from: { archive: "https://u:p@h/k.tar.gz", sha256: "0".repeat(64) } },
    ];
    const base = { python: "3.12", requirements: lock, ...index };
    const host = new GpuHost("sealed", { venvs: { v: { base, overlays } } });
    await settled(host.children);
    const venv = inputsOf(mock, "Venv", "sealed-v").base as Record<string, unknown>;
    assert.deepEqual(venv, secret({ ...base, requirements: (venv.value as Record<string, unknown>).requirements }));
    assert.deepEqual(inputsOf(mock, "PackageOverlay", "sealed-v-overlays").overlays, secret(overlays));
    const open = new GpuHost("open", {
        venvs: { v: { base: { ...base, extraIndexUrl: [clear], findLinks: ["/w@2"] } } },
    });
    await settled(open.children);
    assert.equal((inputsOf(mock, "Venv", "open-v").base as Record<string, unknown>).indexUrl, clear);
});

it("a venv without layers is one resource, and shows no digests", async () => {
    const host = new GpuHost("ct129", {
        venvs: { plain: { base: { adopt: "/root/ml-env" }, overlays: [], patches: [] } },
    });
    await settled(host.children);
    assert.deepEqual(named(mock, "PackageOverlay"), []);
    assert.deepEqual(named(mock, "SourcePatch"), []);
    assert.deepEqual(inputsOf(mock, "Venv", "ct129-plain"), {
        connection: { name: "ct129" },
        root: "/opt/sglang-fleet",
        name: "plain",
        base: { adopt: "/root/ml-env" },
    });
});

it("gpus: [] hides every GPU", async () => {
    const host = new GpuHost("ct200", {
        ...args,
        services: { chat: { venv: "dflash", model: "m", port: 1, gpus: [] } },
    });
    await settled(host.children);
    assert.deepEqual(inputsOf(mock, "EnvVars", "ct200-chat-env").variables, { CUDA_VISIBLE_DEVICES: "" });
});

it("its outputs are by service; keys stay secret", async () => {
    const host = new GpuHost("ct200", args);
    assert.deepEqual(await seen(host.endpoints), { value: { chat: "http://ct200-chat:30001" }, secret: false });
    assert.deepEqual(await seen(host.releases), { value: { chat: "release of venv" }, secret: false });
    assert.deepEqual(await seen(host.versions), { value: { chat: { sglang: "0.5.23" } }, secret: false });
    assert.deepEqual(await seen(host.patched), { value: { chat: {} }, secret: false });
    assert.deepEqual(await seen(host.apiKeys), { value: { chat: "key" }, secret: true });
});

it("a service of a venv that the host does not have is refused", () => {
    assert.throws(() => new GpuHost("ct200", { services: { chat: { venv: "dflash", model: "m", port: 1 } } }), {
        message: "service `chat` runs from venv `dflash`, which this host does not have",
    });
});

it("`generate` makes a random key once, and hands it over as a secret", async () => {
    const service = { venv: "dflash", model: "m", port: 1, apiKey: "generate" as const };
    const host = new GpuHost("ct200", { ...args, services: { chat: service } });
    await settled(host.children);
    assert.deepEqual(inputsOf(mock, "RandomPassword", "ct200-chat-api-key"), { length: 40, special: false });
    assert.deepEqual(inputsOf(mock, "SglangService", "ct200-chat").apiKey, secret("generated"));
    assert.deepEqual(await seen(host.apiKeys), { value: { chat: "generated" }, secret: true });
});

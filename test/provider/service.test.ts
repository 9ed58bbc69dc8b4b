import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import type { ServiceFacts } from "../../provider/host/facts";
import { endpointOf } from "../../provider/resources/serviceSpec";
import { FakeHost } from "./fakeHost";
import { type Provider, serve, type Values } from "./harness";

const service = {
    ...{
        connection: { name: "here", host: "10.1.2.200" },
        root: "/srv/fleet",
        name: "s",
        venv: "v",
        release: "0123456789ab",
        env: "e1",
    },
    ...{
        model: "/data/qwen",
        port: 30001,
        flags: { "tp-size": 1, "trust-remote-code": true, "skip-x": false },
        limits: { nofile: 65536 },
    },
};

let host: FakeHost;
let provider: Provider;
beforeEach(async () => {
    host = new FakeHost();
    provider = await serve(() => host);
    await provider.handshake();
});
afterEach(() => provider.stop());

async function created(news: Values = service): Promise<{ id: string; state: Values; inputs: Values }> {
    const { inputs, failures } = await provider.check("SglangService", news);
    assert.deepEqual(failures, []);
    return { ...(await provider.create("SglangService", inputs)), inputs };
}

/** Paths that differ after the host became so, each with its live value. */
async function seen(change: (live: ServiceFacts) => void): Promise<Record<string, unknown>> {
    const { id, state, inputs } = await created();
    change(host.facts.services.s);
    const live = (await provider.read("SglangService", id, state, inputs)).state;
    const { paths } = await provider.diff("SglangService", live, inputs, inputs);
    const at = (path: string): unknown =>
        path
            .split(/[[\]"]+/)
            .filter((part) => part !== "")
            .reduce<unknown>((value, part) => (value as Values | undefined)?.[part], live);
    return Object.fromEntries(Object.keys(paths).map((path) => [path, at(path)]));
}

test("what the host is told is argv, environment and gates; keys travel apart", async () => {
    await created({ ...service, apiKey: "sk-secret", drain: { argv: ["drain"] }, gates: { imports: ["sgl_kernel"] } });
    const { op, args } = host.calls[0];
    assert.equal(op, "service.activate");
    const { claim, ...rest } = args;
    assert.deepEqual(rest, {
        root: "/srv/fleet",
        service: "s",
        venv: "v",
        release: "0123456789ab",
        env: "e1",
        spec: {
            module: "sglang.launch_server",
            args: [
                "--model-path",
                "/data/qwen",
                "--host",
                "127.0.0.1",
                "--port",
                "30001",
                "--tp-size",
                "1",
                "--trust-remote-code",
            ],
            address: "127.0.0.1",
            port: 30001,
            modelPath: "/data/qwen",
            user: null,
            group: null,
            workingDirectory: null,
            limits: { nofile: "65536" },
            supervisor: "systemd",
            log: null,
            stopTimeout: 60,
        },
        secrets: { apiKey: "sk-secret", adminApiKey: null },
        gates: { imports: ["sgl_kernel"], asserts: [], flags: true, patched: [], timeout: 600 },
        drain: { argv: ["drain"], undo: null, timeout: 60 },
        ready: { timeout: 1200, stable: 10, token: true, path: null },
    });
    assert.deepEqual((claim as Values).kind, "service");
});

test("the patched files of the release are what its interpreter must find", async () => {
    host.done("venv.make", { claim: { owner: "o", name: "v" }, release: "0123456789ab", recipe: null });
    const { state } = await created();
    const gates = host.calls[0].args.gates as Values;
    assert.deepEqual(gates.patched, [{ module: "sglang.srt.x", path: "sglang/srt/x.py", sha256: "5".repeat(64) }]);
    assert.deepEqual(state.versions, { sglang: "0.5.23", torch: "2.14.1" });
});

test("what was made is what is read, and a repeated run changes nothing", async () => {
    const { id, state, inputs } = await created();
    assert.equal(id, "here/service/s");
    const read = await provider.read("SglangService", id, state, inputs);
    assert.deepEqual(read.state, state);
    assert.deepEqual((await provider.diff("SglangService", read.state, inputs, inputs)).paths, {});
    assert.equal(state.endpoint, "http://127.0.0.1:30001");
});

describe("what differs on the host", () => {
    const live = (change: (found: NonNullable<ServiceFacts["process"]>) => void) => (facts: ServiceFacts) =>
        change(facts.process as NonNullable<ServiceFacts["process"]>);
    const unit = {
        name: "sglang-s.service",
        path: "/u",
        exists: true,
        asWritten: true,
        needsReload: false,
        masked: false,
        dropIns: [],
        enabled: true,
        activeState: "active",
        restarts: 0,
    };
    const cases: [string, (facts: ServiceFacts) => void, Record<string, unknown>][] = [
        ["nothing", () => {}, {}],
        [
            "a process that stopped",
            (facts) => Object.assign(facts, { process: null, running: "exited 1 at 12:03" }),
            { running: "exited 1 at 12:03" },
        ],
        [
            "a process that was started by hand with other arguments",
            live((found) =>
                Object.assign(found, {
                    argsMatch: false,
                    args: [
                        "--model-path",
                        "/data/other",
                        "--port",
                        "30001",
                        "--tp_size",
                        "2",
                        "--trust-remote-code",
                        "--debug",
                    ],
                }),
            ),
            {
                model: "/data/other",
                'flags["debug"]': true,
                'flags["tp-size"]': 2,
                process: "started with other arguments",
            },
        ],
        [
            "a process of another release",
            live((found) => Object.assign(found, { release: "ba9876543210" })),
            { release: "ba9876543210" },
        ],
        [
            "a process of a foreign interpreter",
            live((found) => Object.assign(found, { release: null })),
            { release: "another interpreter" },
        ],
        [
            "a process that is older than its files",
            live((found) => Object.assign(found, { newerFiles: ["sglang/srt/x.py", "sglang/srt/y.py"] })),
            { process: "older than sglang/srt/x.py and 1 more" },
        ],
        [
            "a process with another environment",
            live((found) => Object.assign(found, { envDiffers: ["HF_TOKEN"] })),
            { process: "started with another HF_TOKEN" },
        ],
        [
            "a process with other limits",
            live((found) => Object.assign(found, { limitsDiffer: ["nofile is 1024, not 65536"] })),
            { process: "limit nofile is 1024, not 65536" },
        ],
        [
            "an edited unit with a drop-in",
            (facts) =>
                Object.assign(facts, { unit: { ...unit, asWritten: false, dropIns: ["x.conf"], needsReload: true } }),
            { unit: "edited on the host; drop-in x.conf; not reloaded since it was changed" },
        ],
        [
            "a masked unit",
            (facts) => Object.assign(facts, { unit: { ...unit, masked: true, enabled: false } }),
            { unit: "masked" },
        ],
        [
            "a disabled unit",
            (facts) => Object.assign(facts, { unit: { ...unit, enabled: false } }),
            { unit: "disabled" },
        ],
        [
            "a unit that is gone",
            (facts) => Object.assign(facts, { unit: { ...unit, exists: false } }),
            { unit: "missing" },
        ],
        [
            "an activation that was cut",
            (facts) =>
                Object.assign(facts, {
                    activation: { id: "1", state: "interrupted", stage: "start", started: 1, message: null },
                }),
            { running: "activation interrupted at stage start" },
        ],
    ];
    for (const [name, change, expected] of cases) {
        test(`${name} shows by its live value`, async () => {
            const found = await seen(change);
            for (const [path, value] of Object.entries(expected)) {
                assert.deepEqual(found[path], path in found ? value : "not among the paths", path);
            }
            assert.deepEqual(
                Object.keys(found).filter((path) => !(path in expected) && path !== "address"),
                [],
            );
        });
    }
});

test("each restart names its reasons", async () => {
    const { id, state, inputs } = await created();
    const news = (
        await provider.check(
            "SglangService",
            { ...service, release: "ba9876543210", flags: { "tp-size": 2, "trust-remote-code": true } },
            inputs,
        )
    ).inputs;
    assert.deepEqual((await provider.diff("SglangService", state, inputs, news)).paths, {
        release: "UPDATE",
        'flags["tp-size"]': "UPDATE",
    });
    await provider.update("SglangService", id, state, inputs, news, { preview: true });
    assert.deepEqual(provider.engine.kept, ['restarts: release 0123456789ab → ba9876543210, flags["tp-size"] 1 → 2']);
});

test("a change beside the process says that nothing restarts", async () => {
    const { id, state, inputs } = await created();
    const news = (await provider.check("SglangService", { ...service, stopTimeout: 90 }, inputs)).inputs;
    await provider.update("SglangService", id, state, inputs, news, { preview: true });
    assert.deepEqual(provider.engine.kept, ["changed without a restart: stopTimeout 60 → 90"]);
});

test("progress ends with where it serves", async () => {
    await created();
    assert.equal(provider.engine.lines.at(-1)?.text, "serves at http://127.0.0.1:30001, ready after 31 s");
});

test("another key restarts without being shown", async () => {
    const { id, state, inputs } = await created({ ...service, apiKey: "sk-one" });
    assert.equal(JSON.stringify(state).includes("sk-one"), false);
    const news = (await provider.check("SglangService", { ...service, apiKey: "sk-two" }, inputs)).inputs;
    assert.deepEqual((await provider.diff("SglangService", state, inputs, news)).paths, { keys: "UPDATE" });
    await provider.update("SglangService", id, state, inputs, news, { preview: true });
    assert.deepEqual(provider.engine.kept, ["restarts: the API keys changed"]);
});

test("a renamed service is removed before the new one takes its port", async () => {
    const { state, inputs } = await created();
    const news = (await provider.check("SglangService", { ...service, name: "t" }, inputs)).inputs;
    const { paths, replaces, before } = await provider.diff("SglangService", state, inputs, news);
    assert.deepEqual(
        { paths, replaces, before },
        { paths: { name: "UPDATE_REPLACE" }, replaces: ["name"], before: true },
    );
});

test("gates, readiness and drain concern the next change and make none", async () => {
    const { state, inputs } = await created();
    const news = (
        await provider.check(
            "SglangService",
            { ...service, gates: { imports: ["x"] }, ready: { timeout: 5 }, drain: { argv: ["d"] } },
            inputs,
        )
    ).inputs;
    assert.deepEqual((await provider.diff("SglangService", state, inputs, news)).paths, {});
});

const endpoints: [string, Parameters<typeof endpointOf>[0], string, string][] = [
    ["an address of its own", { name: "ct200" } as never, "10.1.2.3", "http://10.1.2.3:1"],
    [
        "everywhere, by the host's address",
        { name: "ct200", host: "10.1.2.200" } as never,
        "0.0.0.0",
        "http://10.1.2.200:1",
    ],
    ["everywhere, by the host's name", { name: "ct200" } as never, "::", "http://ct200:1"],
    ["everywhere, here", { name: "dev", type: "local" } as never, "0.0.0.0", "http://127.0.0.1:1"],
    ["IPv6", { name: "ct200" } as never, "fd00::1", "http://[fd00::1]:1"],
];
for (const [name, connection, address, url] of endpoints) {
    test(`the endpoint of ${name}`, () => assert.equal(endpointOf(connection, { address, port: 1 }), url));
}

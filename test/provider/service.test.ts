import assert from "node:assert/strict";
import { test } from "node:test";
import { endpointOf } from "../../provider/resources/serviceSpec";
import { bench, created, eachTest, service } from "./fixture";
import type { Values } from "./harness";

eachTest();

test("what the host is told is argv, environment and gates; keys travel apart", async () => {
    await created("SglangService", {
        ...service,
        apiKey: "sk-secret",
        drain: { argv: ["drain"] },
        gates: { imports: ["sgl_kernel"] },
    });
    const { op, args } = bench.host.calls[0];
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
            shareGpus: false,
            takeOverPort: false,
            stopTimeout: 60,
        },
        secrets: { apiKey: "sk-secret", adminApiKey: null },
        gates: {
            imports: ["sgl_kernel"],
            asserts: [],
            acceptLibraries: [],
            flags: true,
            patched: [],
            timeout: 600,
        },
        drain: { argv: ["drain"], undo: null, timeout: 60 },
        ready: { timeout: 1200, stable: 10, token: true, path: null },
    });
    assert.deepEqual((claim as Values).kind, "service");
});

test("the patched files of the release are what its interpreter must find", async () => {
    bench.host.done("venv.make", { claim: { owner: "o", name: "v" }, release: "0123456789ab", recipe: null });
    const { state } = await created("SglangService", service);
    const gates = bench.host.calls[0].args.gates as Values;
    assert.deepEqual(gates.patched, [{ module: "sglang.srt.x", path: "sglang/srt/x.py", sha256: "5".repeat(64) }]);
    assert.deepEqual(state.versions, { sglang: "0.5.23", torch: "2.14.1" });
    const file = "/srv/fleet/venvs/v/releases/0123456789ab/src/0/sglang/srt/x.py";
    assert.deepEqual(state.patched, { "sglang.srt.x": { file, content: "as declared", newer: true } });
});

test("what was made is what is read, and a repeated run changes nothing", async () => {
    const { id, state, inputs } = await created("SglangService", service);
    assert.equal(id, "here/service/s");
    const read = await bench.provider.read("SglangService", id, state, inputs);
    assert.deepEqual(read.state, state);
    assert.deepEqual((await bench.provider.diff("SglangService", read.state, inputs, inputs)).paths, {});
    assert.equal(state.endpoint, "http://127.0.0.1:30001");
});

test("each restart names its reasons", async () => {
    const { id, state, inputs } = await created("SglangService", service);
    const news = (
        await bench.provider.check(
            "SglangService",
            { ...service, release: "ba9876543210", flags: { "tp-size": 2, "trust-remote-code": true } },
            inputs,
        )
    ).inputs;
    assert.deepEqual((await bench.provider.diff("SglangService", state, inputs, news)).paths, {
        release: "UPDATE",
        'flags["tp-size"]': "UPDATE",
    });
    await bench.provider.update("SglangService", id, state, inputs, news, { preview: true });
    assert.deepEqual(bench.provider.engine.kept, [
        'here-SglangService: restarts: release, flags["tp-size"]\n  config: release 0123456789ab → ba9876543210\n  config: flags["tp-size"] 1 → 2',
    ]);
});

test("a process that is older than its files restarts because of the host, a flag because of the config", async () => {
    const { id, state, inputs } = await created("SglangService", service);
    const news = (
        await bench.provider.check("SglangService", { ...service, flags: { "trust-remote-code": true } }, inputs)
    ).inputs;
    const live = { ...state, process: "older than sglang/srt/x.py" };
    await bench.provider.update("SglangService", id, live, inputs, news, { preview: true });
    assert.deepEqual(bench.provider.engine.kept, [
        [
            'here-SglangService: restarts: process, flags["tp-size"]',
            '  config: flags["tp-size"] 1 → (default)',
            "  on the host: older than sglang/srt/x.py",
        ].join("\n"),
    ]);
});

test("reasons stand in one order, whichever way they are declared and come about", async () => {
    const { id, state, inputs } = await created("SglangService", service);
    const more = {
        release: "ba9876543210",
        port: 30002,
        extraArgs: ["--x"],
        stopTimeout: 90,
        env: "e".repeat(12),
    };
    const declared = [
        { ...service, ...more, flags: { zoo: 1, "tp-size": 2, any: true }, limits: { nofile: 9, core: 0 } },
        { ...service, limits: { core: 0, nofile: 9 }, flags: { any: true, "tp-size": 2, zoo: 1 }, ...more },
    ];
    for (const wish of declared) {
        const news = (await bench.provider.check("SglangService", wish, inputs)).inputs;
        const live = {
            ...state,
            running: "exited 1 at 12:03",
            process: "its link leads to /v",
            unit: "edited",
            pid: 1,
        };
        const before = bench.provider.engine.kept.length;
        await bench.provider.update("SglangService", id, live, inputs, news, { preview: true });
        assert.deepEqual(bench.provider.engine.kept.slice(before), [
            [
                'here-SglangService: restarts: release, env, port, extraArgs, running, process, flags.any, flags["tp-size"], flags["trust-remote-code"], flags.zoo, limits.core, limits.nofile',
                "  config: release 0123456789ab → ba9876543210",
                "  config: env e1 → eeeeeeeeeeee",
                "  config: port 30001 → 30002",
                "  config: extraArgs (default) → --x",
                "  config: flags.any (default) → true",
                '  config: flags["tp-size"] 1 → 2',
                '  config: flags["trust-remote-code"] true → (default)',
                "  config: flags.zoo (default) → 1",
                "  config: limits.core (default) → 0",
                "  config: limits.nofile 65536 → 9",
                "  on the host: exited 1 at 12:03",
                "  on the host: its link leads to /v",
            ].join("\n"),
        ]);
    }
});

test("a change beside the process says that nothing restarts", async () => {
    const { id, state, inputs } = await created("SglangService", service);
    const news = (await bench.provider.check("SglangService", { ...service, stopTimeout: 90 }, inputs)).inputs;
    await bench.provider.update("SglangService", id, state, inputs, news, { preview: true });
    assert.deepEqual(bench.provider.engine.kept, [
        "here-SglangService: changed without a restart: stopTimeout\n  config: stopTimeout 60 → 90",
    ]);
});

test("progress ends with where it serves", async () => {
    await created("SglangService", service);
    assert.equal(bench.provider.engine.lines.at(-1)?.text, "serves at http://127.0.0.1:30001, ready after 31 s");
});

test("another key restarts without being shown", async () => {
    const { id, state, inputs } = await created("SglangService", { ...service, apiKey: "sk-one" });
    assert.equal(JSON.stringify(state).includes("sk-one"), false);
    const news = (await bench.provider.check("SglangService", { ...service, apiKey: "sk-two" }, inputs)).inputs;
    assert.deepEqual((await bench.provider.diff("SglangService", state, inputs, news)).paths, { keys: "UPDATE" });
    await bench.provider.update("SglangService", id, state, inputs, news, { preview: true });
    assert.deepEqual(bench.provider.engine.kept, [
        "here-SglangService: restarts: keys\n  config: the API keys changed",
    ]);
});

test("a renamed service is removed before the new one takes its port", async () => {
    const { state, inputs } = await created("SglangService", service);
    const news = (await bench.provider.check("SglangService", { ...service, name: "t" }, inputs)).inputs;
    const { paths, replaces, before } = await bench.provider.diff("SglangService", state, inputs, news);
    assert.deepEqual(
        { paths, replaces, before },
        { paths: { name: "UPDATE_REPLACE" }, replaces: ["name"], before: true },
    );
});

test("readiness, drain and how long gates may take concern the next change and make none", async () => {
    const { state, inputs } = await created("SglangService", service);
    const later = { gates: { timeout: 5 }, ready: { timeout: 5 }, drain: { argv: ["d"] } };
    const news = (await bench.provider.check("SglangService", { ...service, ...later }, inputs)).inputs;
    assert.deepEqual((await bench.provider.diff("SglangService", state, inputs, news)).paths, {});
});

test("another question to the gates is asked at once, and is no restart", async () => {
    const { id, state, inputs } = await created("SglangService", service);
    const gates = { imports: ["x"], asserts: ["1 == 1"] };
    const news = (await bench.provider.check("SglangService", { ...service, gates }, inputs)).inputs;
    assert.deepEqual((await bench.provider.diff("SglangService", state, inputs, news)).paths, {
        'gates["imports"]': "UPDATE",
        'gates["asserts"]': "UPDATE",
    });
    await bench.provider.update("SglangService", id, state, inputs, news, { preview: true });
    assert.deepEqual(bench.provider.engine.kept, [
        "here-SglangService: changed without a restart: gates.asserts, gates.imports\n  config: gates.asserts (default) → 1 == 1\n  config: gates.imports (default) → x",
    ]);
    const { gates: _, ...old } = state;
    assert.deepEqual((await bench.provider.diff("SglangService", old, inputs, news)).paths, {});
    const fewer = { ...state, gates: { imports: [], asserts: [], flags: true } };
    assert.deepEqual((await bench.provider.diff("SglangService", fewer, inputs, inputs)).paths, {});
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

import assert from "node:assert/strict";
import { it } from "node:test";
import * as pulumi from "@pulumi/pulumi";
import { type FleetPlan, parseFleet } from "../../components/config";
import { duration } from "../../components/config/duration";
import { context } from "./context";

/** A plan with its assets as paths, and without what is undefined: as one would write it. */
function plain({ args, warnings }: FleetPlan): unknown {
    const asset = (value: unknown) => pulumi.asset.FileAsset.isInstance(value);
    return JSON.parse(JSON.stringify({ args, warnings }, (_, value) => (asset(value) ? "asset" : value)));
}

function hosts(raw: unknown): Record<string, Record<string, unknown>> {
    return (plain(parseFleet(raw, context)) as { args: { hosts: Record<string, Record<string, unknown>> } }).args.hosts;
}

const venvs = { v: { base: { adopt: "/v" } } };
const service = { venv: "v", model: "/m", port: 30000 };

it("everything that a config can say of a host arrives in its plan", () => {
    const raw = {
        defaults: {
            connection: { user: "root", options: { Compression: "yes" } },
            root: "/data/fleet",
            keep: 4,
            service: {
                env: { NCCL_ALGO: "Ring", GONE: "x" },
                flags: { "log-level": "info" },
                ready: { timeout: "1h30m" },
            },
        },
        venvs: {
            dflash: {
                base: {
                    python: "3.12",
                    requirements: "locks/d.txt",
                    indexUrl: "https://pypi.example/simple",
                    noDeps: false,
                },
                overlays: [
                    { from: { wheel: "wheels/a.whl" } },
                    { packages: ["b"], from: { directory: "vendor/b", version: "1" } },
                    { from: { index: "torch==2.11.0+cu130", indexUrl: "https://pypi.example/cu130" } },
                ],
                patches: [
                    { module: "a.b", file: "patches/b.py" },
                    { path: "a/c.py", diff: "patches/c.diff", pre: "0".repeat(64) },
                ],
                checks: {
                    imports: ["sgl_kernel"],
                    assert: ["1 == 1"],
                    acceptLibraries: ["libmpi.so.*"],
                    timeout: "5m",
                },
            },
        },
        services: {
            dflash: {
                venv: "dflash",
                model: "/data/m",
                port: 30001,
                gpus: [1],
                env: { HF_TOKEN: { secret: "hfToken" }, NCCL_MAX_NCHANNELS: 16, GONE: null },
                flags: { "tp-size": 1, "trust-remote-code": true },
                limits: { memlock: "infinity" },
                drain: { argv: ["/opt/drain", "out"], undo: ["/opt/drain", "in"], timeout: "30s" },
                checks: { imports: ["deep_gemm"], acceptLibraries: ["deep_gemm"], flags: false },
                stopTimeout: 90,
                apiKey: { secret: "hfToken" },
                adminApiKey: "generate",
                after: [{ run: "curl x", on: "control", env: { T: { secret: "hfToken" } } }],
            },
        },
        hosts: {
            ct200: {
                connection: {
                    host: "10.1.2.200",
                    becomePassword: { secret: "sudo" },
                    become: "sudo",
                    options: { A: "b" },
                },
                before: [{ run: ["mount", "/data"] }],
                services: [
                    {
                        service: "dflash",
                        port: 30009,
                        gpus: [2],
                        env: { NCCL_ALGO: "Tree" },
                        flags: { "tp-size": 2 },
                        ready: { token: false },
                    },
                ],
            },
        },
        rollout: { canary: ["ct200"], batch: "25%" },
    };
    assert.deepEqual(plain(parseFleet(raw, context)), {
        warnings: [],
        args: {
            rollout: { canary: ["ct200"], batch: "25%" },
            hosts: {
                ct200: {
                    connection: {
                        user: "root",
                        host: "10.1.2.200",
                        become: "sudo",
                        becomePassword: "secret of sudo",
                        options: { Compression: "yes", A: "b" },
                    },
                    root: "/data/fleet",
                    before: [{ run: ["mount", "/data"], on: "host", env: {} }],
                    venvs: {
                        dflash: {
                            base: {
                                python: "3.12",
                                requirements: "asset",
                                indexUrl: "https://pypi.example/simple",
                                noDeps: false,
                            },
                            overlays: [
                                { from: { wheel: "asset" } },
                                { packages: ["b"], from: { directory: "vendor/b", version: "1" } },
                                { from: { index: "torch==2.11.0+cu130", indexUrl: "https://pypi.example/cu130" } },
                            ],
                            patches: [
                                { module: "a.b", file: "asset" },
                                { path: "a/c.py", diff: "asset", pre: "0".repeat(64) },
                            ],
                            keep: 4,
                        },
                    },
                    services: {
                        dflash: {
                            venv: "dflash",
                            model: "/data/m",
                            port: 30009,
                            gpus: [2],
                            env: { NCCL_ALGO: "Tree", HF_TOKEN: "secret of hfToken", NCCL_MAX_NCHANNELS: "16" },
                            flags: { "log-level": "info", "tp-size": 2, "trust-remote-code": true },
                            limits: { memlock: "infinity" },
                            drain: { argv: ["/opt/drain", "out"], undo: ["/opt/drain", "in"], timeout: 30 },
                            ready: { timeout: 5400, token: false },
                            gates: {
                                imports: ["sgl_kernel", "deep_gemm"],
                                asserts: ["1 == 1"],
                                acceptLibraries: ["libmpi.so.*", "deep_gemm"],
                                timeout: 300,
                                flags: false,
                            },
                            stopTimeout: 90,
                            apiKey: "secret of hfToken",
                            adminApiKey: "generate",
                            after: [{ run: "curl x", on: "control", env: { T: "secret of hfToken" } }],
                        },
                    },
                },
            },
        },
    });
});

it("files are found from the project's directory, whatever the working directory is", async () => {
    const raw = {
        venvs: { v: { base: { python: "3.12", requirements: "locks/d.txt" } } },
        hosts: { h: { venvs: ["v"] } },
    };
    const base = parseFleet(raw, context).args.hosts.h.venvs?.v.base as unknown as {
        requirements: pulumi.asset.FileAsset;
    };
    assert.equal(await base.requirements.path, "/project/locks/d.txt");
});

it("on the control machine itself, paths may be relative to the project", () => {
    const local = hosts({
        defaults: { root: ".dev/host" },
        venvs: { v: { base: { adopt: "venv" } } },
        services: {
            a: { ...service, model: "./model", log: "a.log" },
            b: { ...service, model: "Qwen/Qwen3-8B", port: 30001 },
        },
        hosts: { here: { connection: { type: "local" }, services: ["a", "b"] } },
    }).here;
    assert.equal(local.root, "/project/.dev/host");
    assert.deepEqual(local.venvs, { v: { base: { adopt: "/project/venv" } } });
    const services = local.services as Record<string, Record<string, unknown>>;
    assert.deepEqual(
        [services.a.model, services.a.log, services.b.model],
        ["/project/model", "/project/a.log", "Qwen/Qwen3-8B"],
    );
});

it("a host has the venvs that its services and itself name, and no others", () => {
    const named = hosts({
        venvs: { ...venvs, w: { base: { adopt: "/w" } }, x: { base: { adopt: "/x" } } },
        services: { s: service },
        hosts: { h: { services: ["s", { service: "s", as: "t", venv: "w", port: 1 }] }, i: { venvs: ["x"] }, j: {} },
    });
    assert.deepEqual(
        Object.entries(named).map(([name, { venvs }]) => [name, Object.keys(venvs as object)]),
        [
            ["h", ["v", "w"]],
            ["i", ["x"]],
            ["j", []],
        ],
    );
    assert.equal(named.h.root, "/opt/sglang-fleet");
});

it("one service may stand on a host twice, under two names", () => {
    const { services } = hosts({
        venvs,
        services: { s: service },
        hosts: {
            h: {
                services: [
                    { service: "s", as: "one", gpus: [0] },
                    { service: "s", as: "two", port: 30001, gpus: [1] },
                ],
            },
        },
    }).h;
    assert.deepEqual(Object.keys(services as object), ["one", "two"]);
});

it("one GPU for two services is a warning, by host, unless both say that they share", () => {
    const warned = (s: object, t: object) =>
        parseFleet(
            {
                venvs,
                services: { s: { ...service, gpus: [0, 1], ...s }, t: { ...service, port: 30001, gpus: [1], ...t } },
                hosts: { h: { services: ["s", "t"] }, i: { services: ["s"] } },
            },
            context,
        ).warnings;
    assert.deepEqual(warned({ shareGpus: true }, { shareGpus: true }), []);
    assert.equal(warned({}, { shareGpus: true }).length, 1);
    assert.deepEqual(warned({}, {}), [
        { host: "h", message: "GPU 1 is given to both `s` and `t`; `shareGpus: true` of both says that it is meant" },
    ]);
});

for (const [written, seconds] of [
    [90, 90],
    [0.5, 0.5],
    ["90s", 90],
    ["20m", 1200],
    ["2h", 7200],
    ["1h30m", 5400],
    ["1h1m1s", 3661],
    ["0s", 0],
] as const) {
    it(`a duration ${JSON.stringify(written)} is ${seconds} seconds`, () =>
        assert.equal(duration.parse(written), seconds));
}
for (const written of ["", "20", "m", "1m1h", "1d", "-1s", -1]) {
    it(`${JSON.stringify(written)} is no duration`, () => assert.equal(duration.safeParse(written).success, false));
}

it("requirements that a venv may leave unmet are its own matter, and no gate of its services", () => {
    const checks = { accept: ["torch"], imports: ["sgl_kernel"] };
    const { ct200 } = hosts({
        venvs: { v: { ...venvs.v, checks } },
        services: { s: service },
        hosts: { ct200: { services: ["s"] } },
    });
    assert.deepEqual(ct200.venvs, { v: { base: { adopt: "/v" }, accept: ["torch"] } });
    assert.deepEqual((ct200.services as Record<string, { gates: unknown }>).s.gates, { imports: ["sgl_kernel"] });
});

it("a donor is reached as its host is, by the passwords of that one, and a path on the control machine is the project's", () => {
    const donors = [
        { packages: ["torch", "nvidia-*"], from: { host: "ct129", venv: "/root/ml-env" } },
        { packages: ["a"], from: { host: "here", venv: "venvs/mine", pin: true } },
        { packages: ["b"], from: { venv: "/opt/b" } },
        { packages: ["c"], from: { archive: "vendor/c.tar.zst", version: "1" } },
    ];
    const { ct200 } = hosts({
        defaults: { connection: { user: "root" } },
        venvs: { v: { ...venvs.v, overlays: donors } },
        hosts: {
            ct200: { venvs: ["v"] },
            ct129: { connection: { host: "10.1.2.129", password: { secret: "sudo" } } },
            here: { connection: { type: "local" } },
        },
    });
    const ct129 = { user: "root", host: "10.1.2.129", password: "secret of sudo", name: "ct129" };
    assert.deepEqual((ct200.venvs as Record<string, { overlays: unknown }>).v.overlays, [
        { packages: ["torch", "nvidia-*"], from: { venv: "/root/ml-env", connection: ct129 } },
        {
            packages: ["a"],
            from: {
                venv: "/project/venvs/mine",
                connection: { user: "root", type: "local", name: "here" },
                pin: true,
            },
        },
        { packages: ["b"], from: { venv: "/opt/b" } },
        { packages: ["c"], from: { archive: "vendor/c.tar.zst", version: "1" } },
    ]);
});

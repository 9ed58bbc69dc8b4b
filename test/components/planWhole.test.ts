import assert from "node:assert/strict";
import { it } from "node:test";
import { parseFleet } from "../../components/config";
import { context } from "./context";
import { plain } from "./plain";

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

import assert from "node:assert/strict";
import { it } from "node:test";
import type * as pulumi from "@pulumi/pulumi";
import { parseFleet } from "../../components/config";
import { context } from "./context";
import { hosts } from "./plain";

const venvs = { v: { base: { adopt: "/v" } } };
const service = { venv: "v", model: "/m", port: 30000 };

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
        { packages: ["a"], from: { host: "here", venv: "venvs/mine", pin: true, direct: "me@here" } },
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
                direct: "me@here",
            },
        },
        { packages: ["b"], from: { venv: "/opt/b" } },
        { packages: ["c"], from: { archive: "vendor/c.tar.zst", version: "1" } },
    ]);
});

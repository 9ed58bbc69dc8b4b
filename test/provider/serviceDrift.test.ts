import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ServiceFacts } from "../../provider/host/serviceFacts";
import { bench, created, eachTest, service } from "./fixture";
import type { Values } from "./harness";

eachTest();

const emptyRelease = { complete: true, recipe: null, packages: {}, files: {}, site: "", made: 1 };

/** Paths that differ after the host became so, each with its live value. */
async function seen(change: (live: ServiceFacts) => void): Promise<Record<string, unknown>> {
    const { id, state, inputs } = await created("SglangService", service);
    change(bench.host.facts.services.s);
    const live = (await bench.provider.read("SglangService", id, state, inputs)).state;
    const { paths } = await bench.provider.diff("SglangService", live, inputs, inputs);
    const at = (path: string): unknown =>
        path
            .split(/[[\]"]+/)
            .filter((part) => part !== "")
            .reduce<unknown>((value, part) => (value as Values | undefined)?.[part], live);
    return Object.fromEntries(Object.keys(paths).map((path) => [path, at(path)]));
}

test("a process counts the changed files of its release that it may have loaded: neither data nor texts", async () => {
    const { id, state, inputs } = await created("SglangService", service);
    const { venvs, services } = bench.host.facts;
    const { venv, release } = services.s.current as NonNullable<ServiceFacts["current"]>;
    const processOf = async () => (await bench.provider.read("SglangService", id, state, inputs)).state.process;
    const drifted = async (paths: string[], exchanged = {}) => {
        const drift = paths.map((path) => ({ path, kind: "edited" as const }));
        const located = { "pkg/chat.jinja": "/x" };
        const made = { ...emptyRelease, drift, driftCount: drift.length, exchanged, located };
        venvs[venv] = { owner: "", release, base: { kind: "managed", key: "" }, releases: { [release]: made } };
        return processOf();
    };
    for (const path of ["sglang/README.md", "pkg/data.json", "a-1.dist-info/RECORD", "~orch/x.py", ".lock"]) {
        assert.equal(await drifted([path]), "current", path);
    }
    const loaded = ["a.py", "a.so", "lib/libx.so.12", "bin/ninja", "x.pth", "sglang/k.cuh", "sglang/k/E=8.json"];
    for (const path of [...loaded, "pkg/chat.jinja"]) {
        assert.equal(await drifted([path]), "runs from a release with 1 changed file", path);
    }
    const humanize = { was: null, now: "4.9.0", files: 37, loaded: 30 };
    assert.equal(await drifted(["a.py"], { humanize }), "runs from a release with 31 changed files");
    assert.equal(await drifted([], { humanize: { ...humanize, loaded: 0 } }), "current");
});

test("a service that does not run keeps what is known of its patched files: nobody took a patch away", async () => {
    const { id, state, inputs } = await created("SglangService", service);
    Object.assign(bench.host.facts.services.s, { process: null, running: "stopped" });
    const patched = { "sglang.srt.x": { file: "/r/x.py", content: "as declared", newer: true } };
    const read = await bench.provider.read("SglangService", id, { ...state, patched }, inputs);
    assert.deepEqual(read.state.patched, patched);
});

test("a server that listens on nothing is warned of, unless an activation waits for it", async () => {
    const { id, state, inputs } = await created("SglangService", service);
    const live = bench.host.facts.services.s as ServiceFacts;
    const told = async (): Promise<string[]> => {
        const before = bench.provider.engine.kept.length;
        await bench.provider.read("SglangService", id, state, inputs);
        return bench.provider.engine.kept.slice(before);
    };
    const started = bench.host.facts.machine.now - 300;
    Object.assign(live.process as NonNullable<ServiceFacts["process"]>, { listens: true, started });
    assert.deepEqual(await told(), []);
    Object.assign(live.process as NonNullable<ServiceFacts["process"]>, { listens: false });
    const [sentence, ...more] = await told();
    assert.match(sentence, /runs for 5 min \(pid \d+\), but nothing listens on port 30001: it still loads, or hangs/);
    assert.deepEqual(more, []);
    live.activation = { id: "a", state: "running", stage: "ready", started, message: null };
    assert.deepEqual(await told(), []);
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
        linked: null,
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
            "a process that stopped, and whose link was moved meanwhile,",
            (facts) => Object.assign(facts, { process: null, running: "stopped", linkedTo: "/root/venv" }),
            { running: "stopped", process: "its link leads to /root/venv" },
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

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ServiceFacts } from "../../provider/host/facts";
import { bench, created, eachTest, service } from "./fixture";
import type { Values } from "./harness";

eachTest();

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

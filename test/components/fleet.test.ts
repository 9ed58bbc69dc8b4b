import assert from "node:assert/strict";
import { before, beforeEach, it } from "node:test";
import * as pulumi from "@pulumi/pulumi";
import { Fleet, type FleetArgs, type Rollout } from "../../components";
import { waves } from "../../components/waves";
import { type Engine, engine, named, seen } from "./mocks";

let mock: Engine;
before(async () => {
    mock = await engine();
});
beforeEach(() => {
    mock.registered.length = 0;
    mock.asked.length = 0;
    mock.unreached = [];
});

const host = {
    venvs: { v: { base: { adopt: "/v" } } },
    services: { chat: { venv: "v", model: "m", port: 30000 } },
};
const fleet = (names: string[], rollout?: Rollout): FleetArgs => ({
    hosts: Object.fromEntries(names.map((name) => [name, host])),
    rollout,
});

const table: [string, string[], Rollout | undefined, string[][]][] = [
    ["nothing said: all side by side", ["a", "b", "c"], undefined, [["a", "b", "c"]]],
    ["canaries first", ["a", "b", "c"], { canary: ["c"] }, [["c"], ["a", "b"]]],
    ["batches by number", ["a", "b", "c"], { batch: 2 }, [["a", "b"], ["c"]]],
    [
        "a share is rounded up",
        ["a", "b", "c", "d", "e"],
        { canary: ["a"], batch: "25%" },
        [["a"], ["b"], ["c"], ["d"], ["e"]],
    ],
    [
        "a share of many",
        ["a", "b", "c", "d", "e"],
        { batch: "50%" },
        [
            ["a", "b", "c"],
            ["d", "e"],
        ],
    ],
    ["all of them canaries", ["a"], { canary: ["a"], batch: 1 }, [["a"]]],
    ["no hosts", [], { batch: "10%" }, []],
];
for (const [name, hosts, rollout, expected] of table) {
    it(`waves: ${name}`, () => assert.deepEqual(waves(hosts, rollout), expected));
}

it("hosts of a later wave are registered after everything of the one before", async () => {
    await seen(new Fleet("fleet", fleet(["b", "c", "a"], { canary: ["a"], batch: 1 })).unreached);
    const hosts = mock.registered
        .filter(({ type }) => type !== "sglang:index:Fleet")
        .map(({ name }) => name.split("-")[0]);
    assert.deepEqual([...new Set(hosts)], ["a", "b", "c"]);
    assert.deepEqual(hosts, [...hosts].sort());
    assert.deepEqual(named(mock, "SglangService"), ["a-chat", "b-chat", "c-chat"]);
});

it("the provider is asked once, after all resources, who was not reached", async () => {
    await seen(new Fleet("fleet", fleet(["a", "b"])).unreached);
    assert.deepEqual(mock.asked, [mock.registered.length]);
    assert.equal(mock.registered.length, 1 + 2 * 4);
});

it("a host that was not reached is an error on its component, and the fleet goes on", async (t) => {
    const errors: [string, string | undefined][] = [];
    t.mock.method(pulumi.log, "error", async (message: string, resource?: pulumi.Resource) => {
        errors.push([message, resource && (await seen(resource.urn)).value]);
    });
    mock.unreached = [{ host: "b", message: "b (10.1.2.3) cannot be reached" }];
    const made = new Fleet("fleet", fleet(["a", "b"]));
    assert.deepEqual((await seen(made.unreached)).value, mock.unreached);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(errors, [
        ["b (10.1.2.3) cannot be reached", "urn:pulumi:test::sglang-fleet::sglang:index:Fleet$sglang:index:GpuHost::b"],
    ]);
});

it("its outputs are by host", async () => {
    const made = new Fleet("fleet", fleet(["a", "b"]));
    assert.deepEqual((await seen(made.endpoints)).value, {
        a: { chat: "http://a-chat:30000" },
        b: { chat: "http://b-chat:30000" },
    });
    assert.deepEqual(await seen(made.apiKeys), { value: {}, secret: false });
});

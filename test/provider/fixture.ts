/** A provider over one host of the test's own, new for each test. */
import assert from "node:assert/strict";
import { afterEach, beforeEach } from "node:test";
import type { Connection } from "../../provider/connection";
import { FakeHost } from "./fakeHost";
import type { Provider, Values } from "./harness";
import { serve } from "./serve";

export const placed = { connection: { name: "here" }, root: "/srv/fleet" };
export const env = { ...placed, service: "s", variables: { A: "1", B: "b" } };

/** The host and the provider of the test that runs, and how the host was asked to be reached. */
export const bench = {} as { host: FakeHost; provider: Provider; connections: Connection[] };

/** Makes both before each test of a file, and ends them after. */
export function eachTest(): void {
    beforeEach(async () => {
        bench.host = new FakeHost();
        bench.connections = [];
        bench.provider = await serve((connection) => {
            bench.connections.push(connection);
            return bench.host;
        });
        await bench.provider.handshake();
        await bench.provider.configure();
    });
    afterEach(() => bench.provider.stop());
}

/** Inputs as check hands them on. */
export async function checked(type: string, news: Values, olds: Values = {}): Promise<Values> {
    const { inputs, failures } = await bench.provider.check(type, news, olds);
    assert.deepEqual(failures, []);
    return inputs;
}

/** What a program declares for the first time. */
export async function created(type: string, news: Values): Promise<{ id: string; state: Values; inputs: Values }> {
    const inputs = await checked(type, news);
    return { ...(await bench.provider.create(type, inputs)), inputs };
}

/** A declared server, with flags of each kind. */
export const service = {
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

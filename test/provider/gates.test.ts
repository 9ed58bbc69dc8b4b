import assert from "node:assert/strict";
import { test } from "node:test";
import { HostError } from "../../provider/host/host";
import { bench, checked, eachTest, service } from "./fixture";

eachTest();

const table = ["gate       result  seconds  cause", "libraries  failed     0.61  a.so wants libcudart.so.12"];

/** The release and the variables are on the host, as after an `up` that a gate stopped. */
function staged(): void {
    bench.host.done("venv.make", { claim: { owner: "o", name: "v" }, release: "0123456789ab", recipe: null });
    bench.host.facts.envs.s = { owner: "o", id: "e1", variables: {} };
}

test("what the gates would say is in the preview where the candidate is on the host already", async () => {
    staged();
    bench.host.instead.set("service.check", async () => ({ gates: [{ ok: false, warnings: [] }], table }));
    await bench.provider.create("SglangService", await checked("SglangService", service), { preview: true });
    assert.deepEqual(
        bench.host.calls.map(({ op }) => op),
        ["service.check"],
    );
    assert.equal(
        bench.provider.engine.kept.at(-1),
        ["here-SglangService: what is known of its gates beforehand:", ...table.map((line) => `  ${line}`)].join("\n"),
    );
});

test("what a short preview is at is not shown, as displays would keep it", async () => {
    staged();
    bench.host.instead.set("service.check", async (_args, { progress }) => {
        progress?.("gate libraries");
        return { gates: [], table };
    });
    await bench.provider.create("SglangService", await checked("SglangService", service), { preview: true });
    assert.deepEqual(bench.provider.engine.lines, []);
});

test("gates that pass, and those that cannot be asked yet, are not spoken of", async () => {
    const inputs = await checked("SglangService", service);
    await bench.provider.create("SglangService", inputs, { preview: true });
    assert.deepEqual(bench.host.calls, []);
    staged();
    bench.host.instead.set("service.check", async () => ({ gates: [{ ok: true, warnings: [] }], table }));
    await bench.provider.create("SglangService", inputs, { preview: true });
    assert.deepEqual(bench.provider.engine.kept, []);
});

test("a fault of asking is said and does not end the preview", async () => {
    staged();
    bench.host.instead.set("service.check", async () => {
        throw new HostError("here", { code: "no-user", message: "there is no user llm" });
    });
    await bench.provider.create("SglangService", await checked("SglangService", service), { preview: true });
    assert.deepEqual(bench.provider.engine.kept, ["here-SglangService: here: there is no user llm"]);
});

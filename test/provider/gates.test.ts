import assert from "node:assert/strict";
import { test } from "node:test";
import { HostError } from "../../provider/host/host";
import { bench, checked, created, eachTest, service } from "./fixture";

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
        ["service.port", "service.check"],
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
    assert.deepEqual(
        bench.host.calls.map(({ op }) => op),
        ["service.port"],
    );
    staged();
    bench.host.instead.set("service.check", async () => ({ gates: [{ ok: true, warnings: [] }], table }));
    await bench.provider.create("SglangService", inputs, { preview: true });
    assert.deepEqual(bench.provider.engine.kept, []);
});

test("a preview says in which gate, and why, the last candidate failed, before it is tried again", async () => {
    const { id, state, inputs } = await created("SglangService", service);
    const news = (await bench.provider.check("SglangService", { ...service, flags: { "tp-sise": 1 } }, inputs)).inputs;
    const live = bench.host.facts.services.s;
    const wish = async (): Promise<string | undefined> => {
        await bench.provider.update("SglangService", id, state, inputs, news, { preview: true });
        return bench.provider.engine.kept.findLast((text) => text.includes("the last"));
    };
    assert.equal(await wish(), undefined);
    live.activation = { id: "1", state: "rolled-back", stage: "ready", started: 1_800_000_000, message: "died\nso" };
    assert.equal(
        await wish(),
        "here-SglangService: the last activation (2027-01-15 08:00 UTC) failed in stage ready: died",
    );
    live.refused = { release: "r0", checked: 1_800_000_060, gate: "flags", text: "--tp-sise is no flag", more: 2 };
    assert.equal(
        await wish(),
        "here-SglangService: the last candidate (release r0, 2027-01-15 08:01 UTC) failed in gate flags: --tp-sise is no flag (and 2 more problems)",
    );
    live.refused = { ...live.refused, release: String(news.release), args: ["--model-path", "/other"], more: 0 };
    assert.match(
        String(await wish()),
        /the last candidate \(this release, with other arguments than now, 2027-01-15 08:01 UTC\) failed in gate flags: /,
    );
    live.refused = { ...live.refused, args: null };
    assert.match(
        String(await wish()),
        /the last candidate \(this release, 2027-01-15 08:01 UTC\) failed in gate flags: /,
    );
});

test("a fault of asking is said and does not end the preview", async () => {
    staged();
    bench.host.instead.set("service.check", async () => {
        throw new HostError("here", { code: "no-user", message: "there is no user llm" });
    });
    await bench.provider.create("SglangService", await checked("SglangService", service), { preview: true });
    assert.deepEqual(bench.provider.engine.kept, ["here-SglangService: here: there is no user llm"]);
});

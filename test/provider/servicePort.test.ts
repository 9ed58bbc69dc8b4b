import assert from "node:assert/strict";
import { test } from "node:test";
import { bench, checked, created, eachTest, service } from "./fixture";

eachTest();

const held =
    /^here: port 30001 is that of service `s`, which runs on this host: a new service starts before an old one/;

test("a new service on the port of one that runs is refused in the preview: a renamed one would stand in its own way", async () => {
    await created("SglangService", service);
    const renamed = await checked("SglangService", { ...service, name: "t" });
    await assert.rejects(bench.provider.create("SglangService", renamed, { preview: true }), (error: Error) =>
        held.test(error.message.replace(/^.*?(?=here: )/s, "")),
    );
});

test("one on another port, and one whose neighbour is stopped, is not", async () => {
    await created("SglangService", service);
    const other = await checked("SglangService", { ...service, name: "t", port: 30002 });
    await bench.provider.create("SglangService", other, { preview: true });
    (bench.host.facts.services.s as { process: unknown }).process = null;
    const same = await checked("SglangService", { ...service, name: "u" });
    await bench.provider.create("SglangService", same, { preview: true });
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Log } from "../../provider/log";
import { Engine } from "./engine";

let engine: Engine;
let log: Log;
before(async () => {
    engine = await new Engine().start();
    log = new Log((text) => text);
    log.attach(engine.address);
});
after(() => {
    log.close();
    engine.stop();
});

async function shown(): Promise<string[]> {
    await log.flushed();
    return engine.lines.splice(0).map(({ text }) => text);
}

test("progress shows at once, then the newest line, and the last one at the end", async () => {
    const progress = log.progress("urn");
    for (const text of ["one", "two", "three"]) {
        progress.line(text);
    }
    progress.end();
    assert.deepEqual(await shown(), ["one", "three"]);
});

test("progress that begins quietly shows nothing of what is over before, and then the newest line", async () => {
    const short = log.progress("urn", 60_000);
    short.line("one");
    short.end();
    assert.deepEqual(await shown(), []);
    const long = log.progress("urn", 200);
    long.line("one");
    long.line("two");
    await sleep(600);
    long.end();
    assert.deepEqual(await shown(), ["two"]);
});

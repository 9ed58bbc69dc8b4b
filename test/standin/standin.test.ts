import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout } from "node:timers/promises";

const folder = mkdtempSync(join(tmpdir(), "standin-"));
const started: ChildProcess[] = [];

after(() => {
    for (const child of started) child.kill("SIGKILL");
    rmSync(folder, { recursive: true });
});

interface Standin {
    child: ChildProcess;
    url: string;
    log: () => string;
}

async function freePort(): Promise<number> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    server.close();
    return port;
}

async function start(env: Record<string, string>, ...args: string[]): Promise<Standin> {
    const port = await freePort();
    const all = ["-m", "sglang.launch_server", "--model-path", folder, "--port", String(port), ...args];
    const child = spawn("python3", all, { env: { ...process.env, PYTHONPATH: join(__dirname, "src"), ...env } });
    started.push(child);
    let log = "";
    child.stderr.on("data", (data) => {
        log += data;
    });
    return { child, url: `http://127.0.0.1:${port}`, log: () => log };
}

/** Status of a request; 0 when nobody listens. */
async function status(url: string, init: RequestInit = {}): Promise<number> {
    return fetch(url, { ...init, headers: { connection: "close", ...init.headers } }).then(
        (response) => response.status,
        () => 0,
    );
}

async function ready(server: Standin): Promise<void> {
    const deadline = Date.now() + 10_000;
    while ((await status(`${server.url}/ready`)) !== 200) {
        assert.ok(Date.now() < deadline && server.child.exitCode === null, server.log());
        await setTimeout(20);
    }
}

async function ended(server: Standin): Promise<number | string | null> {
    if (server.child.exitCode === null && server.child.signalCode === null) await once(server.child, "exit");
    return server.child.exitCode ?? server.child.signalCode;
}

test("it answers completions, tells its log in SGLang's order, and ends well on SIGTERM", async () => {
    const server = await start({});
    await ready(server);
    const body = JSON.stringify({ prompt: "The capital of France is", max_tokens: 1 });
    const answer = await fetch(`${server.url}/v1/completions`, {
        method: "POST",
        body,
        headers: { connection: "close" },
    });
    assert.equal(((await answer.json()) as { choices: { text: string }[] }).choices[0]?.text, "Paris.");
    server.child.kill("SIGTERM");
    assert.equal(await ended(server), 0);
    const order = [
        "server_args={",
        "Init parallel begin.",
        "Load weight begin.",
        "Load weight end.",
        "KV Cache is allocated.",
    ];
    order.push("max_total_num_tokens=", "Uvicorn running on", "fired up and ready to roll!", "Gracefully exiting...");
    assert.deepEqual(
        order.map((line) => server.log().indexOf(line)).toSorted((a, b) => a - b),
        order.map((line) => server.log().indexOf(line)),
    );
    assert.ok(server.log().includes(order[0] as string));
});

test("its scheduler and detokenizer are processes of its group, under SGLang's titles", async () => {
    const server = await start({});
    await ready(server);
    const shown = execFileSync("ps", ["-o", "args=", "--ppid", String(server.child.pid)], { encoding: "utf8" });
    assert.deepEqual(shown.trim().split("\n"), ["sglang::scheduler", "sglang::detokenizer"]);
    server.child.kill("SIGTERM");
    await ended(server);
});

test("keys come from the config file, guard everything but health, and show in the log as SGLang's do", async () => {
    const config = join(folder, "keys.yaml");
    writeFileSync(config, 'api-key: "user key"\nadmin-api-key: "admin key"\n');
    const server = await start({}, "--config", config);
    await ready(server);
    const authorization = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
    assert.equal(await status(`${server.url}/health`), 200);
    assert.equal(await status(`${server.url}/v1/models`), 401);
    assert.equal(await status(`${server.url}/v1/models`, authorization("user key")), 200);
    assert.equal(await status(`${server.url}/pause_generation`, { method: "POST", ...authorization("user key") }), 401);
    assert.match(server.log(), /'api_key': 'user key'/);
    server.child.kill("SIGTERM");
    await ended(server);
});

test("an unknown flag ends it with 2, a start that shall fail with its code, a death after readiness with 1", async () => {
    assert.equal(await ended(await start({}, "--no-such-flag")), 2);
    assert.equal(await ended(await start({ STANDIN_EXIT_AT_START: "3" })), 3);
    const server = await start({ STANDIN_DIE_AFTER: "0.3" });
    await ready(server);
    assert.equal(await ended(server), 1);
});

test("without its scheduler it ends by SIGKILL", async () => {
    const server = await start({});
    await ready(server);
    const pid = execFileSync("ps", ["-o", "pid=", "--ppid", String(server.child.pid)], { encoding: "utf8" }).trim();
    process.kill(Number(pid.split("\n")[0]), "SIGKILL");
    assert.equal(await ended(server), "SIGKILL");
});

test("a server that is green early answers its routes while its tokens wait", async () => {
    const server = await start({ STANDIN_EARLY_GREEN: "1", STANDIN_READY_AFTER: "1.5" });
    await ready(server);
    assert.equal(await status(`${server.url}/health`), 200);
    const asked = performance.now();
    assert.equal(await status(`${server.url}/generate`, { method: "POST", body: '{"input_ids": [1]}' }), 200);
    assert.ok(performance.now() - asked > 500);
    server.child.kill("SIGTERM");
    await ended(server);
});

test("two nodes wait for each other, and the second ends with the first only", async () => {
    const nodes = ["--nnodes", "2", "--dist-init-addr", `127.0.0.1:${await freePort()}`, "--node-rank"];
    const first = await start({}, ...nodes, "0");
    await setTimeout(500);
    assert.equal(await status(`${first.url}/ready`), 0);
    const second = await start({}, ...nodes, "1");
    await ready(first);
    assert.equal(await status(`${second.url}/health`), 200);
    second.child.kill("SIGTERM");
    await setTimeout(200);
    assert.equal(second.child.exitCode, null);
    first.child.kill("SIGTERM");
    assert.deepEqual([await ended(first), await ended(second)], [0, 0]);
});

test("a port that is taken ends it with 1", async () => {
    const server = await start({});
    await ready(server);
    assert.equal(await ended(await start({}, "--port", new URL(server.url).port)), 1);
    server.child.kill("SIGTERM");
    await ended(server);
});

test("its wheels are the same bytes each time", () => {
    const digests = ["one", "two"].map((name) => {
        const out = join(folder, name);
        execFileSync("python3", [join(__dirname, "make_wheels.py"), out]);
        return readdirSync(out).map((file) => [
            file,
            createHash("sha256")
                .update(readFileSync(join(out, file)))
                .digest("hex"),
        ]);
    });
    assert.deepEqual(digests[0], digests[1]);
    assert.equal(digests[0]?.length, 3);
});

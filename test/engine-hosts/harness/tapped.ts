import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bundle } from "../../../provider/host/bundle";
import type { TestHost } from "../../hosts/testHost";

/** What went between the provider and the agents of a host, counted on the host. */
export interface Exchange {
    /** Agents that were started. */
    agents: number;
    requests: number;
    results: number;
    /** Bytes to the agents, their own sources included. */
    sent: number;
    received: number;
    /** Most memory that an agent had, in MB. */
    memory: number;
}

/** Path on the host: a Python that notes what agents hear and say. */
export const tappedPython = "/usr/local/bin/tapped-python3";
const folder = "/var/tmp/tap";

/** Puts the tap on a host; name it as `python` of the connection. */
export async function tap(host: TestHost): Promise<void> {
    const source = `#!/usr/bin/python3 -B\n${readFileSync(join(__dirname, "tap.py"), "utf8")}`;
    await host.exec("sh", "-c", `printf %s "$0" >${tappedPython} && chmod 755 ${tappedPython}`, source);
}

/** What was noted since the last time, which then is forgotten. */
export async function exchanged(host: TestHost): Promise<Exchange> {
    const list = (await host.exec("sh", "-c", `ls ${folder} 2>/dev/null || true`)).stdout.split("\n");
    const all: Exchange = { agents: 0, requests: 0, results: 0, sent: 0, received: 0, memory: 0 };
    for (const name of list.filter((one) => one.endsWith(".in"))) {
        const path = `${folder}/${name.slice(0, -".in".length)}`;
        const heard = await bytes(host, `${path}.in`);
        const said = await bytes(host, `${path}.out`);
        all.agents += 1;
        all.sent += heard.length;
        all.received += said.length;
        all.requests += frames(heard.subarray(bundle().first.length)).filter((frame) => "op" in frame).length;
        const ready = said.indexOf("@sglang-ready");
        const spoken = said.subarray(said.indexOf("\n", ready) + 1);
        all.results += frames(spoken).filter((frame) => "result" in frame || "fault" in frame).length;
        const peak = Number((await host.exec("cat", `${path}.peak`)).stdout) / 1024;
        all.memory = Math.max(all.memory, peak);
    }
    await host.exec("rm", "-rf", folder);
    return all;
}

async function bytes(host: TestHost, path: string): Promise<Buffer> {
    return Buffer.from((await host.exec("base64", "-w0", path)).stdout, "base64");
}

/** The JSON of each frame of a stream: see docs/protocol.md. */
function frames(stream: Buffer): Record<string, unknown>[] {
    const found: Record<string, unknown>[] = [];
    for (let at = 0; at + 8 <= stream.length; ) {
        const [json, body] = [stream.readUInt32BE(at), stream.readUInt32BE(at + 4)];
        found.push(JSON.parse(stream.toString("utf8", at + 8, at + 8 + json)));
        at += 8 + json + body;
    }
    return found;
}

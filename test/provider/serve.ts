/** The provider served in this process over hosts of the test's own, or started as the engine starts it. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { Server, type ServiceDefinition } from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { Declared } from "../../provider/declared";
import { Donors } from "../../provider/donors/donors";
import { type Connect, Hosts } from "../../provider/hosts";
import { LastSeen } from "../../provider/lastSeen";
import { Log } from "../../provider/log";
import { operations } from "../../provider/operations";
import { table } from "../../provider/resources";
import { Secrets } from "../../provider/secrets";
import { Seen } from "../../provider/seen";
import { service } from "../../provider/server";
import { bind, Engine } from "./engine";
import { Provider } from "./harness";

export const TOP = join(__dirname, "../..");

/** Serves the provider in this process, over hosts of the test's own. */
export async function serve(connect: Connect): Promise<Provider> {
    const engine = await new Engine().start();
    const secrets = new Secrets();
    const log = new Log((text) => secrets.redact(text));
    log.attach(engine.address);
    const abort = new AbortController();
    const hosts = new Hosts(connect, new Map());
    const server = new Server({ "grpc.max_receive_message_length": -1 });
    const context = {
        hosts,
        donors: new Donors(hosts, abort.signal),
        log,
        secrets,
        declared: new Declared(),
        lastSeen: new LastSeen(),
        seen: new Seen(undefined),
        cancelled: abort.signal,
    };
    server.addService(
        ResourceProviderService as unknown as ServiceDefinition,
        service({
            log,
            secrets,
            version: "0.0.0",
            operations: async () => operations(context, table, "0.0.0"),
            cancel: () => abort.abort(),
        }),
    );
    const port = await bind(server);
    return new Provider(engine, port, async () => {
        server.forceShutdown();
        log.close();
        await hosts.close();
    });
}

/** Starts the real plugin, as the engine does. */
export async function start(env: Record<string, string> = {}): Promise<Provider & { process: ChildProcess }> {
    const engine = await new Engine().start();
    const process_ = spawn(join(TOP, "provider/pulumi-resource-sglang"), [engine.address], {
        cwd: TOP,
        env: { ...process.env, ...env },
        stdio: ["ignore", "pipe", "pipe"],
    });
    const port = await firstLine(process_);
    const ended = new Promise<void>((resolve) => process_.once("exit", () => resolve()));
    const provider = new Provider(engine, Number(port), async () => {
        process_.kill("SIGINT");
        await ended;
    });
    return Object.assign(provider, { process: process_ });
}

function firstLine(child: ChildProcess): Promise<string> {
    return new Promise((resolve, reject) => {
        let text = "";
        let complaints = "";
        child.stderr?.on("data", (part: Buffer) => (complaints += String(part)));
        child.stdout?.on("data", (part: Buffer) => {
            text += String(part);
            if (text.includes("\n")) {
                resolve(text.split("\n")[0]);
            }
        });
        child.once("exit", (code) =>
            reject(new Error(`the provider ended (${code}) before it said its port: ${text}${complaints}`)),
        );
    });
}

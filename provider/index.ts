import { closeSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Server, ServerCredentials, type ServiceDefinition } from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { Log } from "./log";
import { Secrets } from "./secrets";
import { service } from "./server";
import type { Serving } from "./serving";

const PARENT_INTERVAL = 1000;

/** Until the port is said, the engine takes each byte on stdout for it; a stray line of a library must not be one. */
console.log = console.error;
console.info = console.error;
console.debug = console.error;

function main(): void {
    const abort = new AbortController();
    const secrets = new Secrets();
    const log = new Log((text) => secrets.redact(text));
    log.attach(process.argv[2] ?? "");

    const server = new Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
    let loaded: Promise<Serving> | undefined;
    const serving = (): Promise<Serving> => {
        loaded ??= import("./serving").then((module) => module.serving(log, secrets, version(), abort.signal));
        return loaded;
    };
    const served = {
        log,
        secrets,
        version: version(),
        operations: async () => (await serving()).operations,
        cancel: () => abort.abort(),
    };
    server.addService(ResourceProviderService as unknown as ServiceDefinition, service(served));

    const stop = async (): Promise<void> => {
        abort.abort();
        await (await loaded?.catch(() => undefined))?.close();
        log.close();
        process.exit(0);
    };
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
        process.once(signal, () => void stop());
    }
    const fixed = process.env.SGLANG_PROVIDER_PORT;
    server.bindAsync(`127.0.0.1:${fixed ?? 0}`, ServerCredentials.createInsecure(), (error, port) => {
        if (error !== null) {
            console.error(error.message);
            process.exit(1);
        }
        say(port);
    });
    if (fixed === undefined) {
        stopWithParent(stop);
    }
}

/** The port goes to the descriptor that the wrapper kept for it; there nothing else can have been written. */
function say(port: number): void {
    const descriptor = Number(process.env.SGLANG_PORT_FD ?? 1);
    writeSync(descriptor, `${port}\n`);
    if (descriptor > 2) {
        // A connection of ssh that stays for the next command must not keep the engine's pipe open.
        closeSync(descriptor);
    }
}

/** A killed engine sends no Cancel and leaves its providers behind: they end by themselves. */
function stopWithParent(stop: () => Promise<void>): void {
    const parent = process.ppid;
    setInterval(() => {
        if (process.ppid !== parent) {
            void stop();
        }
    }, PARENT_INTERVAL).unref();
}

function version(): string {
    // From provider/ and from dist/provider/.
    for (const above of ["..", "../.."]) {
        try {
            return (require(join(__dirname, above, "package.json")) as { version: string }).version;
        } catch {}
    }
    return "0.0.0";
}

main();

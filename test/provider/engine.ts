/** An engine that writes down what it is told. */
import { Server, ServerCredentials, type ServiceDefinition } from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import type { LogRequest } from "@pulumi/pulumi/proto/engine_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";

export interface LogLine {
    urn: string;
    text: string;
    ephemeral: boolean;
    severity: number;
}

/** The engine's side of a conversation. */
export class Engine {
    readonly lines: LogLine[] = [];
    private readonly server = new Server({ "grpc.max_receive_message_length": -1 });
    address = "";

    async start(): Promise<this> {
        this.server.addService(EngineService as unknown as ServiceDefinition, {
            log: (call: { request: LogRequest }, answer: (error: null, empty: Empty) => void) => {
                const { request } = call;
                this.lines.push({
                    urn: request.getUrn(),
                    text: request.getMessage(),
                    ephemeral: request.getEphemeral(),
                    severity: request.getSeverity(),
                });
                answer(null, new Empty());
            },
        });
        this.address = `127.0.0.1:${await bind(this.server)}`;
        return this;
    }

    /** Lines that stay under Diagnostics. */
    get kept(): string[] {
        return this.lines.filter(({ ephemeral }) => !ephemeral).map(({ text }) => text);
    }

    stop(): void {
        this.server.forceShutdown();
    }
}

/** Serves on a free port of this machine. */
export function bind(server: Server): Promise<number> {
    return new Promise((resolve, reject) =>
        server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) =>
            error === null ? resolve(port) : reject(error),
        ),
    );
}

import type { handleUnaryCall, ServiceError, sendUnaryData, UntypedServiceImplementation } from "@grpc/grpc-js";
import { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import * as proto from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { explain } from "./errors";
import type { Log } from "./log";
import type { operations } from "./operations";
import type { Secrets } from "./secrets";
import { failure } from "./wire";

/** What is done about a call, by its name. */
export type Handlers = Record<string, (request: never) => Promise<unknown>>;

/** What answers about resources. */
export type Operations = ReturnType<typeof operations>;

export interface Served {
    log: Log;
    secrets: Secrets;
    version: string;
    /** Asked for as soon as the engine has configured the provider. */
    operations: () => Promise<Operations>;
    cancel: () => void;
}

/** Calls that are left to the operations. */
const LATER = ["getSchema", "check", "diff", "create", "read", "update", "delete", "invoke"] as const;

/**
 * The provider as the engine sees it. The engine starts one more than it works with, only to ask it for its version: so all that has to do
 * with resources is loaded when it is needed.
 */
export function service({ log, secrets, version, operations, cancel }: Served): UntypedServiceImplementation {
    const handlers = {
        handshake: async (request: proto.ProviderHandshakeRequest) => {
            log.attach(request.getEngineAddress());
            return new proto.ProviderHandshakeResponse().setAcceptSecrets(true);
        },
        attach: async (request: { getAddress(): string }) => {
            log.attach(request.getAddress());
            return new Empty();
        },
        getPluginInfo: async () => new PluginInfo().setVersion(version),
        checkConfig: async (request: proto.CheckRequest) => new proto.CheckResponse().setInputs(request.getNews()),
        diffConfig: async () => new proto.DiffResponse().setChanges(proto.DiffResponse.DiffChanges.DIFF_NONE),
        // Secrets are told apart, so that no message shows one; each goes back marked where it came from.
        configure: async () => {
            setImmediate(() => void operations().catch(() => undefined));
            return new proto.ConfigureResponse().setSupportspreview(true).setAcceptsecrets(true);
        },
        cancel: async () => {
            cancel();
            return new Empty();
        },
    };

    const later = LATER.map((name) => [name, async (request: never) => (await operations())[name](request)] as const);
    return Object.fromEntries(
        [...Object.entries(handlers), ...later].map(([name, handler]) => [
            name,
            unary(log, secrets, handler as Handler),
        ]),
    );
}

type Handler = (request: unknown) => Promise<unknown>;

function unary(log: Log, secrets: Secrets, handler: Handler): handleUnaryCall<unknown, unknown> {
    return (call, callback: sendUnaryData<unknown>) => {
        // Lines that come after the answer would be lost.
        const answer = async (error: ServiceError | null, response?: unknown): Promise<void> => {
            await log.flushed();
            callback(error, response);
        };
        handler(call.request).then(
            (response) => answer(null, response),
            (error: unknown) => answer(asServiceError(secrets, error)),
        );
    };
}

function asServiceError(secrets: Secrets, error: unknown): ServiceError {
    return error instanceof Error && "metadata" in error
        ? (error as ServiceError)
        : failure(secrets.redact(explain(error)));
}

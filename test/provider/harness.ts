/** The calls of the engine to a provider behind its real gRPC face, in plain values. */
import { credentials, type ServiceError } from "@grpc/grpc-js";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as proto from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { type JavaScriptValue, Struct } from "google-protobuf/google/protobuf/struct_pb";
import type { Engine } from "./engine";

export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export type Values = Record<string, unknown>;

/** A file or text asset as the engine sends it. */
export function asset(content: { path: string; hash: string } | { text: string; hash: string }): Values {
    return { "4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", ...content };
}

export interface Failure {
    message: string;
    /** Of a partial failure: what the state becomes. */
    left?: { id: string; properties: Values; reasons: string[]; refresh: boolean };
}

/** The calls of the engine, in plain values. */
export class Provider {
    private readonly client: ResourceProviderClient;

    constructor(
        readonly engine: Engine,
        port: number,
        private readonly end: () => Promise<void>,
    ) {
        this.client = new ResourceProviderClient(`127.0.0.1:${port}`, credentials.createInsecure(), {
            "grpc.max_receive_message_length": -1,
        });
    }

    handshake(): Promise<proto.ProviderHandshakeResponse> {
        return this.ask("handshake", new proto.ProviderHandshakeRequest().setEngineAddress(this.engine.address));
    }

    configure(): Promise<proto.ConfigureResponse> {
        return this.ask("configure", new proto.ConfigureRequest());
    }

    async schema(): Promise<Values> {
        return JSON.parse(
            (await this.ask<proto.GetSchemaResponse>("getSchema", new proto.GetSchemaRequest())).getSchema(),
        ) as Values;
    }

    /** Inputs, or the reasons why they are refused. */
    async check(
        type: string,
        news: Values,
        olds: Values = {},
        name = urn(type),
    ): Promise<{ inputs: Values; failures: string[] }> {
        const request = new proto.CheckRequest().setUrn(name).setNews(struct(news)).setOlds(struct(olds));
        request.setRandomseed(Buffer.from("a".repeat(32)));
        const response = await this.ask<proto.CheckResponse>("check", request);
        const failures = response.getFailuresList().map((failure) => `${failure.getProperty()}${failure.getReason()}`);
        return { inputs: plain(response.getInputs()), failures };
    }

    /** Paths that differ => kind, and what the engine is told besides. */
    async diff(
        type: string,
        state: Values,
        oldInputs: Values,
        news: Values,
        ignore: string[] = [],
    ): Promise<{ paths: Record<string, string>; some: boolean; replaces: string[]; before: boolean }> {
        const request = new proto.DiffRequest().setUrn(urn(type)).setId("id");
        request
            .setOlds(struct(state))
            .setOldInputs(struct(oldInputs))
            .setNews(struct(news))
            .setIgnorechangesList(ignore);
        const response = await this.ask<proto.DiffResponse>("diff", request);
        const kinds = Object.entries(proto.PropertyDiff.Kind);
        const found: Record<string, string> = {};
        response.getDetaileddiffMap().forEach((change, path) => {
            found[path] = (kinds.find(([, kind]) => kind === change.getKind()) ?? ["?"])[0];
        });
        return {
            paths: found,
            some: response.getChanges() === proto.DiffResponse.DiffChanges.DIFF_SOME,
            replaces: response.getReplacesList(),
            before: response.getDeletebeforereplace(),
        };
    }

    async create(
        type: string,
        inputs: Values,
        options: { preview?: boolean; timeout?: number } = {},
    ): Promise<{ id: string; state: Values; refresh: boolean }> {
        const request = new proto.CreateRequest().setUrn(urn(type)).setProperties(struct(inputs));
        request.setPreview(options.preview ?? false).setTimeout(options.timeout ?? 0);
        const response = await this.ask<proto.CreateResponse>("create", request);
        return {
            id: response.getId(),
            state: plain(response.getProperties()),
            refresh: response.getRefreshBeforeUpdate(),
        };
    }

    async update(
        type: string,
        id: string,
        state: Values,
        oldInputs: Values,
        news: Values,
        options: { preview?: boolean; timeout?: number; ignore?: string[] } = {},
    ): Promise<{ state: Values; refresh: boolean }> {
        const request = new proto.UpdateRequest()
            .setUrn(urn(type))
            .setId(id)
            .setOlds(struct(state))
            .setOldInputs(struct(oldInputs))
            .setNews(struct(news))
            .setIgnorechangesList(options.ignore ?? []);
        request.setPreview(options.preview ?? false).setTimeout(options.timeout ?? 0);
        const response = await this.ask<proto.UpdateResponse>("update", request);
        return { state: plain(response.getProperties()), refresh: response.getRefreshBeforeUpdate() };
    }

    async read(
        type: string,
        id: string,
        state: Values = {},
        inputs: Values = {},
        name = urn(type),
    ): Promise<{ id: string; state: Values; inputs: Values; refresh: boolean }> {
        const request = new proto.ReadRequest()
            .setUrn(name)
            .setId(id)
            .setProperties(struct(state))
            .setInputs(struct(inputs));
        const response = await this.ask<proto.ReadResponse>("read", request);
        return {
            id: response.getId(),
            state: plain(response.getProperties()),
            inputs: plain(response.getInputs()),
            refresh: response.getRefreshBeforeUpdate(),
        };
    }

    async delete(type: string, id: string, state: Values, inputs: Values): Promise<void> {
        const request = new proto.DeleteRequest()
            .setUrn(urn(type))
            .setId(id)
            .setProperties(struct(state))
            .setOldInputs(struct(inputs));
        await this.ask("delete", request);
    }

    async unreached(): Promise<{ host: string; message: string }[]> {
        const response = await this.ask<proto.InvokeResponse>(
            "invoke",
            new proto.InvokeRequest().setTok("sglang:index:unreached"),
        );
        return plain(response.getReturn()).hosts as { host: string; message: string }[];
    }

    cancel(): Promise<Empty> {
        return this.ask("cancel", new Empty());
    }

    async stop(): Promise<void> {
        this.client.close();
        this.engine.stop();
        await this.end();
    }

    private ask<R>(method: string, request: unknown): Promise<R> {
        const call = (
            this.client as unknown as Record<
                string,
                (request: unknown, done: (error: ServiceError | null, response: R) => void) => void
            >
        )[method];
        return new Promise((resolve, reject) => {
            call.call(this.client, request, (error, response) => (error === null ? resolve(response) : reject(error)));
        });
    }
}

/** What a call was refused with; fails when it was not. */
export async function refused(call: Promise<unknown>): Promise<Failure> {
    const error = await call.then(
        () => undefined,
        (reason: ServiceError) => reason,
    );
    if (error === undefined) {
        throw new Error("it was not refused");
    }
    const details = error.metadata?.get("grpc-status-details-bin")[0];
    if (details === undefined) {
        return { message: error.details };
    }
    const [any] = Status.deserializeBinary(Buffer.from(details as Buffer)).getDetailsList();
    const failed = proto.ErrorResourceInitFailed.deserializeBinary(any.getValue_asU8());
    return {
        message: error.details,
        left: {
            id: failed.getId(),
            properties: plain(failed.getProperties()),
            reasons: failed.getReasonsList(),
            refresh: failed.getRefreshBeforeUpdate(),
        },
    };
}

export function urn(type: string): string {
    return `urn:pulumi:test::fleet::sglang:index:GpuHost$sglang:index:${type}::here-${type}`;
}

function struct(values: Values): Struct {
    return Struct.fromJavaScript(values as Record<string, JavaScriptValue>);
}

function plain(value: Struct | undefined): Values {
    return (value?.toJavaScript() ?? {}) as Values;
}

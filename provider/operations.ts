import { status } from "@grpc/grpc-js";
import * as proto from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { type ChangeRequest, change, remove, Unfinished } from "./change";
import { check } from "./check/check";
import type { AnyResource, Context } from "./context";
import { diff } from "./diff";
import { FUNCTIONS } from "./functions";
import { renderDetail } from "./path";
import { read } from "./read";
import type { Change } from "./resource";
import { schema } from "./schema";
import type { Handlers } from "./server";
import { encode, failure, initFailed, type Opened, open, type Properties } from "./wire";

const KINDS: Record<Change["kind"], proto.PropertyDiff.Kind> = {
    add: proto.PropertyDiff.Kind.ADD,
    update: proto.PropertyDiff.Kind.UPDATE,
    delete: proto.PropertyDiff.Kind.DELETE,
    "add-replace": proto.PropertyDiff.Kind.ADD_REPLACE,
    "update-replace": proto.PropertyDiff.Kind.UPDATE_REPLACE,
    "delete-replace": proto.PropertyDiff.Kind.DELETE_REPLACE,
};

/** What the engine may ask about resources, as it says it and is answered. Besides wire.ts and server.ts the only place that knows protobuf; it decides nothing. */
export function operations(context: Context, table: ReadonlyMap<string, AnyResource>, version: string) {
    const find = (urn: string): AnyResource => {
        // The type of a child is written after those of its parents: `…::parent$type::name`.
        const token = urn.split("::")[2]?.split("$").at(-1) ?? "";
        const resource = table.get(token);
        if (resource === undefined) {
            throw failure(
                `no such resource type: ${token}; there are ${[...table.keys()].join(", ")}`,
                status.NOT_FOUND,
            );
        }
        return resource;
    };

    const receive = (struct: Struct | undefined): Opened => {
        const opened = open(struct);
        context.secrets.learnFrom(opened.values, opened.secrets);
        return opened;
    };

    const changed = async (
        request: proto.CreateRequest | proto.UpdateRequest,
        given: Pick<ChangeRequest, "inputs" | "secrets" | "state" | "oldInputs" | "ignoreChanges">,
    ): Promise<{ id: string; state: Properties }> => {
        try {
            const done = await change(context, find(request.getUrn()), {
                ...common(request),
                ...given,
                preview: request.getPreview(),
            });
            if (!request.getPreview()) {
                context.lastSeen.note(request.getUrn(), done.state);
            }
            return done;
        } catch (error) {
            if (error instanceof Unfinished) {
                context.lastSeen.note(request.getUrn(), error.state);
                const left = encode(error.state, given.secrets);
                throw initFailed(error.id, left, context.secrets.redact(error.message));
            }
            throw error;
        }
    };

    return {
        getSchema: async () => new proto.GetSchemaResponse().setSchema(JSON.stringify(schema(version, table))),
        check: async (request: proto.CheckRequest) => {
            context.declared.wanted(request.getUrn());
            const { values: news, secrets } = receive(request.getNews());
            const olds = receive(request.getOlds()).values;
            const seed = request.getRandomseed_asU8();
            const answer = await check(context, find(request.getUrn()), { urn: request.getUrn(), news, olds, seed });
            const response = new proto.CheckResponse();
            if ("inputs" in answer) {
                return response.setInputs(encode(answer.inputs, secrets));
            }
            // With a property the engine would print the value beside it, be it a secret.
            return response.setFailuresList(
                answer.failures.map((reason) => new proto.CheckFailure().setReason(context.secrets.redact(reason))),
            );
        },
        diff: async (request: proto.DiffRequest) => {
            const resource = find(request.getUrn());
            const changes = diff(context, resource, {
                state: receive(request.getOlds()).values,
                oldInputs: receive(request.getOldInputs()).values,
                news: receive(request.getNews()).values,
                ignoreChanges: request.getIgnorechangesList(),
            });
            return diffResponse(changes, resource.deleteBeforeReplace ?? false);
        },
        create: async (request: proto.CreateRequest) => {
            const { values: inputs, secrets } = receive(request.getProperties());
            const { id, state } = await changed(request, { inputs, secrets });
            return new proto.CreateResponse()
                .setId(request.getPreview() ? "" : id)
                .setProperties(encode(state, secrets))
                .setRefreshBeforeUpdate(true);
        },
        read: async (request: proto.ReadRequest) => {
            const [inputs, state] = [receive(request.getInputs()), receive(request.getProperties())];
            const answer = await read(context, find(request.getUrn()), {
                id: request.getId(),
                urn: request.getUrn(),
                inputs: inputs.values,
                state: state.values,
            });
            const secrets = [...inputs.secrets, ...state.secrets, ...answer.secrets];
            context.secrets.learnFrom(answer.state, secrets);
            context.lastSeen.note(request.getUrn(), answer.state);
            const response = new proto.ReadResponse().setId(answer.id).setRefreshBeforeUpdate(true);
            return answer.id === ""
                ? response
                : response.setProperties(encode(answer.state, secrets)).setInputs(encode(answer.inputs, secrets));
        },
        update: async (request: proto.UpdateRequest) => {
            const { values: inputs, secrets } = receive(request.getNews());
            const state = receive(request.getOlds()).values;
            const oldInputs = receive(request.getOldInputs()).values;
            const ignoreChanges = request.getIgnorechangesList();
            const done = await changed(request, { inputs, secrets, state, oldInputs, ignoreChanges });
            return new proto.UpdateResponse().setProperties(encode(done.state, secrets)).setRefreshBeforeUpdate(true);
        },
        delete: async (request: proto.DeleteRequest) => {
            // The properties are old outputs; how the host is reached is among the inputs.
            const { values: inputs, secrets } = receive(request.getOldInputs());
            const state = receive(request.getProperties()).values;
            await remove(context, find(request.getUrn()), {
                ...common(request),
                inputs,
                secrets,
                state,
                preview: false,
            });
            return new Empty();
        },
        invoke: async (request: proto.InvokeRequest) => {
            const call = FUNCTIONS[request.getTok()];
            if (call === undefined) {
                const there = Object.keys(FUNCTIONS).join(", ");
                throw failure(`no such function: ${request.getTok()}; there are ${there}`, status.NOT_FOUND);
            }
            return new proto.InvokeResponse().setReturn(encode(call(context, receive(request.getArgs()).values)));
        },
    } satisfies Handlers;
}

function common(request: { getUrn(): string; getTimeout(): number }): Pick<ChangeRequest, "urn" | "timeout"> {
    return { urn: request.getUrn(), timeout: request.getTimeout() };
}

function diffResponse(changes: Change[], deleteBeforeReplace: boolean): proto.DiffResponse {
    const response = new proto.DiffResponse();
    const { DIFF_NONE, DIFF_SOME } = proto.DiffResponse.DiffChanges;
    response.setChanges(changes.length > 0 ? DIFF_SOME : DIFF_NONE);
    response.setHasdetaileddiff(true);
    for (const { path, kind } of changes) {
        // inputDiff stays false: the old side shown is then what is on the host.
        response.getDetaileddiffMap().set(renderDetail(path), new proto.PropertyDiff().setKind(KINDS[kind]));
    }
    const names = (some: Change[]): string[] => [...new Set(some.map(({ path }) => String(path[0])))];
    response.setDiffsList(names(changes));
    const replaces = changes.filter(({ kind }) => kind.endsWith("-replace"));
    response.setReplacesList(names(replaces));
    return response.setDeletebeforereplace(replaces.length > 0 && deleteBeforeReplace);
}

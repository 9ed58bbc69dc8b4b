import type { ServiceError } from "@grpc/grpc-js";
import { Metadata, status } from "@grpc/grpc-js";
import { ErrorResourceInitFailed } from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Any } from "google-protobuf/google/protobuf/any_pb";
import { type JavaScriptValue, Struct } from "google-protobuf/google/protobuf/struct_pb";
import { type Path, renderDetail, renderPath } from "./path";
import { Asset } from "./resources/inputs/asset";

/** A value that is known only during `up`. Stands where the value will be, so that no code takes it for one. */
export const unknown: unique symbol = Symbol("unknown");

export type Properties = Record<string, unknown>;

const UNKNOWN_SENTINEL = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const SIGNATURE_KEY = "4dabf18193072939515e22adb298388d";
const ASSET_SIGNATURE = "c44067f5952c0a294b673a41bacd8c17";
const SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270";

/** What the engine sent, as plain values: assets as `Asset`, what is not known yet as `unknown`. */
export interface Opened {
    values: Properties;
    /** Where what it had marked as a secret stands. */
    secrets: Path[];
}

/** Takes the engine's marks off. No resource ever sees one. */
export function open(struct: Struct | undefined): Opened {
    const secrets: Path[] = [];
    return {
        values: struct === undefined ? {} : (decodeValue(struct.toJavaScript(), [], secrets) as Properties),
        secrets,
    };
}

function decodeValue(value: unknown, path: Path, secrets: Path[]): unknown {
    if (value === UNKNOWN_SENTINEL) {
        return unknown;
    }
    if (Array.isArray(value)) {
        return value.map((item, at) => decodeValue(item, [...path, at], secrets));
    }
    if (typeof value !== "object" || value === null) {
        return value;
    }
    const map = value as Properties;
    if (map[SIGNATURE_KEY] === SECRET_SIGNATURE) {
        secrets.push(path);
        return decodeValue(map.value, path, secrets);
    }
    // The engine sends a map in another order each time, and what is said of it is to have one.
    const keys = Object.keys(map).sort();
    return (
        decodeAsset(map) ?? Object.fromEntries(keys.map((key) => [key, decodeValue(map[key], [...path, key], secrets)]))
    );
}

function decodeAsset(value: Properties): Asset | undefined {
    if (value[SIGNATURE_KEY] !== ASSET_SIGNATURE) {
        return undefined;
    }
    const sha256 = typeof value.hash === "string" ? value.hash : "";
    if (typeof value.path === "string" && value.path !== "") {
        return Asset.file(value.path, sha256);
    }
    if (typeof value.text === "string") {
        return Asset.string(value.text, sha256);
    }
    return sha256 === "" || "uri" in value ? undefined : Asset.recorded(sha256);
}

/**
 * Plain values as the engine wants them, with its mark on what stands at `secrets`. What is undefined is left out; what no
 * JSON can hold is our mistake and says where.
 */
export function encode(properties: Properties, secrets: Path[] = []): Struct {
    const marked = new Set(secrets.map(renderDetail));
    return Struct.fromJavaScript(encodeValue(properties, [], marked) as Record<string, JavaScriptValue>);
}

function encodeValue(value: unknown, path: Path, marked: ReadonlySet<string>): JavaScriptValue {
    const plain = encodePlain(value, path, marked);
    return path.length > 0 && marked.has(renderDetail(path))
        ? { [SIGNATURE_KEY]: SECRET_SIGNATURE, value: plain }
        : plain;
}

function encodePlain(value: unknown, path: Path, marked: ReadonlySet<string>): JavaScriptValue {
    if (value === unknown) {
        return UNKNOWN_SENTINEL;
    }
    if (
        value === null ||
        typeof value === "string" ||
        typeof value === "boolean" ||
        (typeof value === "number" && Number.isFinite(value))
    ) {
        return value;
    }
    if (Array.isArray(value)) {
        return value.map((item, at) => encodeValue(item, [...path, at], marked));
    }
    if (value instanceof Asset) {
        return {
            [SIGNATURE_KEY]: ASSET_SIGNATURE,
            hash: value.sha256,
            ...(value.path === undefined ? {} : { path: value.path }),
            ...(value.text === undefined ? {} : { text: value.text }),
        };
    }
    if (typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype) {
        const known = Object.entries(value).filter(([, item]) => item !== undefined);
        return Object.fromEntries(known.map(([key, item]) => [key, encodeValue(item, [...path, key], marked)]));
    }
    throw new TypeError(`${renderPath(path)}: ${String(value)} cannot be sent to the engine`);
}

/** Where values are not known yet. */
export function unknownPaths(value: unknown, path: Path = []): Path[] {
    if (value === unknown) {
        return [path];
    }
    if (Array.isArray(value)) {
        return value.flatMap((item, at) => unknownPaths(item, [...path, at]));
    }
    if (typeof value === "object" && value !== null && !(value instanceof Asset)) {
        return Object.entries(value).flatMap(([key, item]) => unknownPaths(item, [...path, key]));
    }
    return [];
}

/** A refusal: nothing was done, or all was put back. The engine prints the text as it is. */
export function failure(text: string, code: status = status.UNKNOWN): ServiceError {
    return Object.assign(new Error(text), { code, details: text, metadata: new Metadata() });
}

/** A refusal after which something else than before is there: `properties` are what is there now. */
export function initFailed(id: string, properties: Struct, reason: string): ServiceError {
    const detail = new ErrorResourceInitFailed();
    detail.setId(id);
    detail.setProperties(properties);
    detail.setReasonsList([reason]);
    // Without it the engine would forget to read this resource before the next change.
    detail.setRefreshBeforeUpdate(true);
    const any = new Any();
    any.pack(detail.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
    const packed = new Status();
    packed.setCode(status.UNKNOWN);
    packed.setMessage(reason);
    packed.addDetails(any);
    const error = failure(reason);
    error.metadata.add("grpc-status-details-bin", Buffer.from(packed.serializeBinary()));
    return error;
}

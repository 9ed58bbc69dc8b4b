import { Readable } from "node:stream";
import { counted } from "../counted";
import { gathered } from "../host/gathered";
import { type Host, HostError, type Progress } from "../host/host";
import { Meter } from "../host/meter";
import { announced, type Rest, sizeOf } from "../host/resumed";
import type { Contents } from "./contents";
import type { Stream, Wanted } from "./stream";

/** Where contents are to go. */
export interface Target {
    host: Host;
    root: string;
    progress: Progress;
    signal?: AbortSignal;
}

/** A content that a host lacks, and the stream that brings what it lacks of it. */
export interface Supplied extends Wanted, Rest {
    stream: Stream;
}

/** Sends contents while they come from their streams. What has arrived stays there, so a second attempt sends the rest. */
export async function deliver(target: Target, supplied: Supplied[], contents: Contents): Promise<void> {
    if (supplied.length === 0) {
        return;
    }
    for (const stream of new Set(supplied.map((one) => one.stream))) {
        stream.want(supplied.filter((one) => one.stream === stream));
    }
    const { host, root, progress, signal } = target;
    const size = sizeOf(supplied);
    const meter = new Meter(counted(supplied.length, "file"), size, progress);
    const stream = Readable.from(gathered(bytesOf(supplied), meter), { objectMode: true, highWaterMark: 1 });
    try {
        // Not waited for until it is on the disk: it is hashed again where it is laid out.
        const args = { root, contents: announced(supplied), lasting: false };
        await host.call("store.put", args, { progress, signal, body: { size, stream } });
    } catch (error) {
        if (error instanceof HostError && error.report.code === "bad-content") {
            await contents.check(supplied.map(({ sha256 }) => sha256));
        }
        throw error;
    }
}

async function* bytesOf(supplied: Supplied[]): AsyncGenerator<Buffer> {
    for (const one of supplied) {
        yield* one.stream.bytes(one, one.from);
    }
}

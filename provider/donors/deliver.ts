import { Readable } from "node:stream";
import { counted } from "../counted";
import { type Host, HostError, type Progress } from "../host/host";
import { Meter } from "../host/meter";
import type { Contents } from "./contents";
import type { Stream, Wanted } from "./stream";

const PIECE = 1 << 20;

/** Where contents are to go. */
export interface Target {
    host: Host;
    root: string;
    progress: Progress;
    signal?: AbortSignal;
}

/** A content that a host lacks, and the stream that brings it. */
export interface Supplied extends Wanted {
    stream: Stream;
}

/** Sends contents while they come from their streams. What has arrived whole stays there, so a second attempt sends the rest. */
export async function deliver(target: Target, supplied: Supplied[], contents: Contents): Promise<void> {
    if (supplied.length === 0) {
        return;
    }
    for (const stream of new Set(supplied.map((one) => one.stream))) {
        stream.want(supplied.filter((one) => one.stream === stream));
    }
    const { host, root, progress, signal } = target;
    const size = supplied.reduce((sum, one) => sum + one.size, 0);
    const meter = new Meter(counted(supplied.length, "file"), size, progress);
    const stream = Readable.from(bytesOf(supplied, meter), { objectMode: true, highWaterMark: 1 });
    const announced = supplied.map((one) => ({ sha256: one.sha256, size: one.size }));
    try {
        await host.call("store.put", { root, contents: announced }, { progress, signal, body: { size, stream } });
    } catch (error) {
        if (error instanceof HostError && error.report.code === "bad-content") {
            await contents.check(supplied.map(({ sha256 }) => sha256));
        }
        throw error;
    }
}

/** Small files are gathered: a frame of its own for each would cost more than its bytes. */
async function* bytesOf(supplied: Supplied[], meter: Meter): AsyncGenerator<Buffer> {
    let kept: Buffer[] = [];
    let size = 0;
    for (const one of supplied) {
        for await (const piece of one.stream.bytes(one)) {
            meter.add(piece.length);
            kept.push(piece);
            size += piece.length;
            if (size >= PIECE) {
                yield kept.length === 1 ? piece : Buffer.concat(kept);
                [kept, size] = [[], 0];
            }
        }
    }
    if (size > 0) {
        yield Buffer.concat(kept);
    }
}

import type { Socket } from "node:net";
import { hostname, userInfo } from "node:os";
import type { Connection } from "../connection";
import { sendBody } from "./body";
import { bundle } from "./bundle";
import { explainLoss } from "./errors";
import { encodeFrame, type Frame } from "./frames";
import { type CallOptions, type FaultReport, HostError } from "./host";
import { type Started, startAgent } from "./start";
import type { HostStats } from "./stats";

/** Milliseconds that an agent gets to end by itself after its stdin was closed. */
const FAREWELL = 5000;

interface Pending {
    op: string;
    options: CallOptions;
    resolve: (result: unknown) => void;
    reject: (error: HostError) => void;
    /** Aborted when the call is over, however: nothing more of its body is sent. */
    over: AbortController;
}

/** One agent process and the requests that it works on. */
export class Agent {
    private readonly pending = new Map<number, Pending>();
    private readonly gone: Promise<void>;
    private next = 1;
    private lost = false;

    /** Starts one; throws HostError. */
    static async start(connection: Connection, host: string, stats: HostStats): Promise<Agent> {
        stats.starts += 1;
        const started = await startAgent(connection, host);
        stats.sent += started.sent;
        return new Agent(started, host, stats);
    }

    private constructor(
        private readonly started: Started,
        private readonly host: string,
        private readonly stats: HostStats,
    ) {
        const { child, early } = started;
        this.gone = new Promise((resolve) => {
            const end = (exit: number | null): void => {
                this.fail(exit);
                resolve();
            };
            // What was written last may still be on its way through the pipe.
            child.on("exit", (exit) => setTimeout(() => end(exit), 50));
            child.stdout.on("end", () => setTimeout(() => end(child.exitCode), 1000));
        });
        child.stdout.on("data", (chunk: Buffer) => this.receive(chunk));
        for (const frame of early) {
            this.take(frame);
        }
        child.stdout.resume();
        this.hold(false);
    }

    /** Whether calls can still be made. */
    get alive(): boolean {
        return !this.lost;
    }

    /** One request and its reply. Throws HostError: the agent's fault, or `lost`. */
    call<R>(op: string, args: Record<string, unknown>, options: CallOptions = {}): Promise<R> {
        if (options.signal?.aborted) {
            return Promise.reject(new HostError(this.host, cancelled(op)));
        }
        return new Promise<R>((resolve, reject) => {
            const over = new AbortController();
            this.request(op, args, { op, options, resolve: resolve as (result: unknown) => void, reject, over });
        });
    }

    /** Ends the agent and waits for that. */
    async close(): Promise<void> {
        const { child } = this.started;
        child.stdin.end();
        const timer = setTimeout(() => child.kill(), FAREWELL);
        this.hold(true);
        await this.gone;
        clearTimeout(timer);
        child.stdout.destroy();
        child.stderr.destroy();
    }

    private request(op: string, args: Record<string, unknown>, call: Pending): void {
        const id = this.next++;
        const { signal, body } = call.options;
        this.pending.set(id, call);
        this.hold(true);
        this.stats.requests += 1;
        signal?.addEventListener("abort", () => this.send({ cancel: id }), { signal: call.over.signal });
        this.send({ id, op, args: { ...args, by: caller() }, ...(body === undefined ? {} : { bodySize: body.size }) });
        if (body !== undefined) {
            void this.stream(id, call, body);
        }
    }

    private async stream(id: number, call: Pending, body: NonNullable<CallOptions["body"]>): Promise<void> {
        try {
            await sendBody(this.started.child.stdin, id, body, call.over.signal, (bytes) => {
                this.stats.sent += bytes;
            });
        } catch (error) {
            this.send({ cancel: id });
            const reason = { code: "bad-content", message: `cannot send: ${(error as Error).message}` };
            // What is sent may come from another host, which has said what is wrong there.
            this.settle(id)?.reject(
                error instanceof HostError ? error : new HostError(this.host, reason, { cause: error }),
            );
        } finally {
            body.stream.destroy();
        }
    }

    private send(header: Record<string, unknown>, body?: Buffer): void {
        const frame = encodeFrame(header, body);
        this.stats.sent += frame.length;
        this.started.child.stdin.write(frame);
    }

    private receive(chunk: Buffer): void {
        this.stats.received += chunk.length;
        try {
            for (const frame of this.started.reader.push(chunk)) {
                this.take(frame);
            }
        } catch {
            // Out of step with the stream there is no way back; the requests at work learn it as a lost connection.
            this.started.child.kill();
        }
    }

    private take({ header, body }: Frame): void {
        if ("need" in header) {
            this.send({ sources: true }, bundle().rest);
            return;
        }
        const id = header.id as number;
        const call = this.pending.get(id);
        if (call === undefined) {
            return;
        }
        if ("progress" in header) {
            call.options.progress?.((header.progress as { text: string }).text);
        } else if ("body" in header) {
            this.deliver(call, body);
        } else {
            this.stats.replies += 1;
            this.settle(id);
            "fault" in header
                ? call.reject(new HostError(this.host, header.fault as FaultReport))
                : call.resolve(header.result);
        }
    }

    private deliver(call: Pending, body: Buffer): void {
        const { stdout } = this.started.child;
        if (call.options.into?.write(body) === false) {
            stdout.pause();
            call.options.into.once("drain", () => stdout.resume());
        }
    }

    private settle(id: number): Pending | undefined {
        const call = this.pending.get(id);
        this.pending.delete(id);
        call?.over.abort();
        if (this.pending.size === 0) {
            this.hold(false);
        }
        return call;
    }

    private fail(exit: number | null): void {
        this.lost = true;
        for (const [id, call] of [...this.pending]) {
            this.settle(id);
            call.reject(new HostError(this.host, explainLoss(call.op, { stderr: this.started.stderr(), exit })));
        }
    }

    /** An idle agent must not keep its process alive: the program that uses this library may be done. */
    private hold(busy: boolean): void {
        const { child } = this.started;
        for (const one of [child, child.stdin as Socket, child.stdout as Socket, child.stderr as Socket]) {
            busy ? one.ref() : one.unref();
        }
    }
}

/** Who holds the lock on a host, for those who find it locked. */
function caller(): { host: string; user: string; pid: number } {
    return { host: hostname(), user: userInfo().username, pid: process.pid };
}

function cancelled(op: string): FaultReport {
    return { code: "cancelled", message: `${op} was cancelled before it began` };
}

import type { Readable, Writable } from "node:stream";
import type { HostFacts } from "./facts";

/** What the agent says when it refuses or fails; the same fields as `agent/fault.py`. */
export interface FaultReport {
    code: string;
    message: string;
    where?: string;
    found?: string;
    expected?: string;
    remedy?: string;
    detail?: string;
    gate?: string;
    stage?: string;
    restored?: string;
    /** What gates warned of before an activation that failed. */
    warnings?: string[];
}

/** A failure on one host. `code` is `unreachable`, `host-key`, `auth`, `sudo`, `no-python`, `lost`, `cancelled` or one of the agent's. */
export class HostError extends Error {
    constructor(
        /** The host as the user named it. */
        readonly host: string,
        readonly report: FaultReport,
        options?: ErrorOptions,
    ) {
        super(report.message, options);
        this.name = "HostError";
    }
}

/** One line of progress; each replaces the one before. */
export type Progress = (text: string) => void;

export interface CallOptions {
    progress?: Progress;
    signal?: AbortSignal;
    /** Bytes that follow the request; `size` must be exact. */
    body?: { size: number; stream: Readable };
    /** Takes the bytes that an operation sends before its result (`store.get`). */
    into?: Writable;
}

/** One host, through one agent process. The verbs are the domain's; how it is reached is the transport's matter. */
export interface Host {
    /** For messages: `ct200 (10.1.2.200)` or `local`. */
    readonly label: string;
    /**
     * Everything below `root`, looked at once per provider process and root, however many ask and whatever fails.
     * `adopt`: paths of venvs whose fingerprint is wanted though nothing manages them yet.
     */
    look(root: string, adopt?: string[]): Promise<HostFacts>;
    /** Forgets the look, after something was changed. */
    changed(root: string): void;
    /** Runs one operation of the agent; throws HostError. */
    call<R>(op: string, args: Record<string, unknown>, options?: CallOptions): Promise<R>;
    /** Sends what the host's content store lacks: at most two round trips, streamed, with progress. */
    send(root: string, contents: Content[], progress?: Progress, signal?: AbortSignal): Promise<void>;
    /** The bytes of one content of the host's store (`store.get`); HostError `missing-content` when it has none. */
    fetch(root: string, sha256: string): Promise<Buffer>;
    /** Ends the agent; the connection may stay for the next command. */
    close(): Promise<void>;
}

/** Bytes on the control machine: a file, or a text held in memory. `private`: on the host its owner alone may read them. */
export type Content = { sha256: string; size: number; private?: boolean } & ({ path: string } | { text: string });

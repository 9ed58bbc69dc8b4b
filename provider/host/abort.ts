import { type Host, HostError } from "./host";

/**
 * What a promise brings, unless `signal` is aborted before: then HostError `cancelled` at once. What the promise waits for may go
 * on; it is for things that change nothing.
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined, host: string): Promise<T> {
    if (signal === undefined) {
        return promise;
    }
    const over = new AbortController();
    const aborted = new Promise<never>((_, reject) => {
        const refuse = (): void =>
            reject(new HostError(host, { code: "cancelled", message: "cancelled before anything was changed" }));
        signal.aborted ? refuse() : signal.addEventListener("abort", refuse, { signal: over.signal });
    });
    try {
        return await Promise.race([promise, aborted]);
    } finally {
        over.abort();
        // Whoever loses the race must not end the process.
        promise.catch(() => undefined);
        aborted.catch(() => undefined);
    }
}

/** The same host; what it is asked ends with `signal`, a look at once. */
export function stoppable(host: Host, signal: AbortSignal): Host {
    return {
        label: host.label,
        look: (root, adopt) => unlessAborted(host.look(root, adopt), signal, host.label),
        changed: (root) => host.changed(root),
        call: (op, args, options) => host.call(op, args, { signal, ...options }),
        send: (root, contents, progress) => host.send(root, contents, progress, signal),
        fetch: (root, sha256) => unlessAborted(host.fetch(root, sha256), signal, host.label),
        close: () => host.close(),
    };
}

import { credentials } from "@grpc/grpc-js";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb";

const PROGRESS_INTERVAL = 500;

/** Lines to the engine, each under its resource's row. `clean` takes out what must not be shown. */
export class Log {
    private engine: EngineClient | undefined;
    private sent: Promise<void> = Promise.resolve();

    constructor(private readonly clean: (text: string) => string) {}

    /** Where the engine listens; may change when a debugger attached first. */
    attach(address: string): void {
        this.engine?.close();
        this.engine =
            address === ""
                ? undefined
                : new EngineClient(address, credentials.createInsecure(), { "grpc.max_send_message_length": -1 });
    }

    info(urn: string, text: string): void {
        this.send(urn, LogSeverity.INFO, text, false);
    }

    warn(urn: string, text: string): void {
        this.send(urn, LogSeverity.WARNING, text, false);
    }

    /**
     * Progress of one operation: each line replaces the one before in the resource's row. At most two a second are
     * sent, the newest always; `end` sends what is held back. `quiet`: of the first milliseconds nothing is sent, as some
     * displays keep what should be replaced, and an operation that is shorter needs none. Default: 0.
     */
    progress(urn: string, quiet = 0): { line: (text: string) => void; end: () => void } {
        let last = Date.now() + quiet - PROGRESS_INTERVAL;
        let waiting: { text: string; timer: NodeJS.Timeout } | undefined;
        const now = (text: string): void => {
            last = Date.now();
            this.send(urn, LogSeverity.INFO, text, true);
        };
        const withdraw = (): string | undefined => {
            const text = waiting?.text;
            clearTimeout(waiting?.timer);
            waiting = undefined;
            return text;
        };
        const flush = (): void => {
            const text = withdraw();
            if (text !== undefined) {
                now(text);
            }
        };
        const line = (text: string): void => {
            const rest = last + PROGRESS_INTERVAL - Date.now();
            if (waiting !== undefined) {
                waiting.text = text;
            } else if (rest <= 0) {
                now(text);
            } else {
                waiting = { text, timer: setTimeout(flush, rest) };
            }
        };
        return { line, end: quiet > 0 ? withdraw : flush };
    }

    /** Until all lines have arrived: a line that comes after the answer would be lost. */
    flushed(): Promise<void> {
        return this.sent;
    }

    close(): void {
        this.engine?.close();
        this.engine = undefined;
    }

    private send(urn: string, severity: LogSeverity, text: string, ephemeral: boolean): void {
        const { engine } = this;
        const message = this.clean(text);
        if (engine === undefined) {
            process.stderr.write(`${message}\n`);
            return;
        }
        const request = new LogRequest();
        request.setUrn(urn);
        request.setSeverity(severity);
        request.setMessage(message);
        request.setEphemeral(ephemeral);
        // One after the other, as gRPC does not promise the order of two calls. A line that cannot be sent is not worth an operation.
        this.sent = this.sent.then(() => new Promise((resolve) => engine.log(request, () => resolve())));
    }
}

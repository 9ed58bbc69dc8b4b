import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Connection } from "../connection";
import { bundle } from "./bundle";
import { remoteCommand, SHELL_READY, SUDO_PROMPT, startLine } from "./command";
import { type Ending, explainStart } from "./errors";
import { type Frame, FrameReader } from "./frames";
import { HostError } from "./host";
import { paced } from "./pace";
import { becomeFor, transportFor } from "./transport";

/** So much of stderr is kept for messages. */
const STDERR_KEPT = 16 * 1024;

/** Seconds for login shell, sudo and Python, after what the connection itself may take. */
const START = 60;

/** A child in which an agent runs. */
export interface Started {
    child: ChildProcessWithoutNullStreams;
    reader: FrameReader;
    /** Frames that came together with the line that the agent is ready. */
    early: Frame[];
    /** Bytes that were sent so far. */
    sent: number;
    /** What stderr shows up to now. */
    stderr: () => string;
}

/** Starts an agent and waits until it is ready. Throws HostError with the cause. */
export function startAgent(connection: Connection, host: string): Promise<Started> {
    return paced(connection, () => startShared(connection, host));
}

async function startShared(connection: Connection, host: string): Promise<Started> {
    try {
        return await startOnce(connection, host, true);
    } catch (error) {
        if (error instanceof HostError && SHARING_FAILED.test(error.report.detail ?? "")) {
            return await startOnce(connection, host, false);
        }
        throw error;
    }
}

/**
 * What ssh says when a connection of its own may do better, or at least tell the cause: the shared one was dead already, or
 * what connects to a jump host failed, which ssh silences as long as the connection is to be a shared one.
 */
const SHARING_FAILED = /Connection (?:closed|reset) by UNKNOWN port 65535|^mux_client_|^Control socket/m;

function startOnce(connection: Connection, host: string, shared: boolean): Promise<Started> {
    const marker = randomBytes(8).toString("hex");
    const become = becomeFor(connection);
    const child = transportFor(connection, shared).start(remoteCommand(become));
    const reader = new FrameReader(marker);
    let stderr = "";
    let stdout = "";
    let sent = 0;
    let asked = 0;
    let handed = false;

    return new Promise<Started>((resolve, reject) => {
        const limit = connection.connectTimeout + START;
        const timer = setTimeout(() => fail({ exit: null, silentFor: limit }), limit * 1000);
        const send = (data: string | Buffer): void => {
            sent += Buffer.byteLength(data);
            child.stdin.write(data);
        };
        const hand = (): void => {
            handed = true;
            const packed = bundle().first;
            send(startLine(marker, packed.length, connection.python));
            send(packed);
        };
        const fail = (ending: Omit<Ending, "stderr">): void => {
            settle();
            child.kill();
            reject(new HostError(host, explainStart(connection, { stderr, ...ending }, readLine)));
        };
        const settle = (): void => {
            clearTimeout(timer);
            child.off("exit", onExit);
            child.stdout.off("data", onStdout);
        };
        const onStdout = (chunk: Buffer): void => {
            let early: Frame[];
            try {
                early = reader.push(chunk);
            } catch (error) {
                fail({ exit: null, spawnError: (error as Error).message });
                return;
            }
            if (reader.isReady) {
                child.stdout.pause();
                settle();
                resolve({ child, reader, early, sent, stderr: () => stderr });
            } else if (!handed) {
                stdout = (stdout + chunk.toString("latin1")).slice(-STDERR_KEPT);
                if (stdout.includes(SHELL_READY)) {
                    hand();
                }
            }
        };
        const onStderr = (chunk: Buffer): void => {
            stderr = (stderr + chunk.toString("utf8")).slice(-STDERR_KEPT);
            const prompts = stderr.split(SUDO_PROMPT).length - 1;
            if (become === "sudo-with-password" && !handed && prompts > asked) {
                asked = prompts;
                // A second question means that the first answer was wrong: with no more to read, sudo says so and ends.
                asked === 1 ? send(`${connection.becomePassword}\n`) : child.stdin.end();
            }
        };
        // The streams may still hold what explains the end: one turn of the loop later they have been read.
        const onExit = (exit: number | null): void => void setTimeout(() => fail({ exit }), 50);

        child.on("error", (error) => fail({ exit: null, spawnError: error.message }));
        child.on("exit", onExit);
        child.stdin.on("error", () => undefined);
        child.stdout.on("data", onStdout);
        child.stderr.on("data", onStderr);
        // Until sudo has what it asks for, whatever we write would be taken for the password.
        if (become !== "sudo-with-password") {
            hand();
        }
    });
}

function readLine(path: string, number: number): string | undefined {
    try {
        return readFileSync(path, "utf8").split("\n")[number - 1];
    } catch {
        return undefined;
    }
}

import { type ChildProcess, spawn } from "node:child_process";

/** How a command ended. */
export interface Outcome {
    /** The command line, for messages. */
    command: string;
    code: number | null;
    signal: NodeJS.Signals | null;
    stdout: string;
    stderr: string;
    /** Both streams, in the order in which they came. */
    output: string;
    seconds: number;
}

/** A command at work: its process, and its end. */
export interface Started {
    child: ChildProcess;
    ended: Promise<Outcome>;
    /** Waits until the output so far matches; rejects when the command ends first. */
    said(pattern: RegExp): Promise<void>;
}

/** Starts a command with stdin closed; it leads a process group, as a shell's job does. */
export function start(argv: string[], cwd: string, env: NodeJS.ProcessEnv): Started {
    const [file, ...args] = argv;
    const began = performance.now();
    const child = spawn(file as string, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    const outcome: Outcome = {
        command: argv.join(" "),
        code: null,
        signal: null,
        stdout: "",
        stderr: "",
        output: "",
        seconds: 0,
    };
    const waiting = new Set<() => void>();
    const take = (stream: "stdout" | "stderr") => (chunk: string) => {
        outcome[stream] += chunk;
        outcome.output += chunk;
        for (const look of waiting) {
            look();
        }
    };
    child.stdout?.setEncoding("utf8").on("data", take("stdout"));
    child.stderr?.setEncoding("utf8").on("data", take("stderr"));
    const ended = new Promise<Outcome>((resolve, reject) => {
        child.once("error", reject);
        // `exit`, not `close`: a service that was started keeps our pipes only when it has a fault, and then tests should say so.
        child.once("exit", (code, signal) => {
            setTimeout(() => resolve({ ...outcome, code, signal, seconds: (performance.now() - began) / 1000 }), 50);
        });
    });
    const said = (pattern: RegExp) =>
        new Promise<void>((resolve, reject) => {
            const look = () => {
                if (pattern.test(outcome.output)) {
                    waiting.delete(look);
                    resolve();
                }
            };
            waiting.add(look);
            look();
            ended.then(
                (end) =>
                    reject(
                        new Error(
                            `${end.command} ended (${end.code ?? end.signal}) before it said ${pattern}:\n${end.output}`,
                        ),
                    ),
                reject,
            );
        });
    return { child, ended, said };
}

/** Throws with the whole output unless the command ended with this exit code. */
export function expectExit(outcome: Outcome, code = 0): Outcome {
    if (outcome.code !== code) {
        throw new Error(
            `${outcome.command}: exit ${outcome.code ?? outcome.signal}, expected ${code}\n${outcome.output}`,
        );
    }
    return outcome;
}

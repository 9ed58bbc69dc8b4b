import { readFileSync } from "node:fs";
import { join } from "node:path";
import { standinWheels } from "./standin";
import { project, type Workspace } from "./workspace";

/** The root of the host, below the workspace's `host/`. */
export const rootOf = (workspace: Workspace): string => join(workspace.host, "fleet");

/** What a test may say differently about its one host. */
export interface Wishes {
    port: number;
    /** Text that the patched server completes with. Default: `Lyon.` */
    answer?: string;
    /** The whole patched module, instead of a diff that changes the answer. */
    module?: string;
    /** The whole diff, instead of one that changes the answer. */
    diff?: string;
    /** Distributions of the locked requirements. Default: those that the stand-in needs. */
    requirements?: string[];
    /** An existing venv that is adopted, instead of a new one from requirements; absolute path. */
    adopt?: string;
    /** More variables. */
    env?: Record<string, unknown>;
    /** More fields of the service. */
    service?: Record<string, unknown>;
    /** More fields of the host's connection. */
    connection?: Record<string, unknown>;
}

/** A diff of the stand-in's answers that makes it complete with `text`; its context is the whole file. */
export function answerDiff(text: string, before = "Paris."): string {
    const source = readFileSync(join(project, "test/standin/src/sglang/srt/answer.py"), "utf8");
    const lines = source.trimEnd().split("\n");
    const changed = lines.flatMap((line) =>
        line === 'TEXT = "Paris."' ? [`-TEXT = "${before}"`, `+TEXT = "${text}"`] : [` ${line}`],
    );
    const range = `1,${lines.length}`;
    return [
        "--- a/sglang/srt/answer.py",
        "+++ b/sglang/srt/answer.py",
        `@@ -${range} +${range} @@`,
        ...changed,
        "",
    ].join("\n");
}

/** A module of the stand-in's answers that completes with `text` after running these lines at its import. */
export function answerModule(text: string, ...lines: string[]): string {
    return ["import os", ...lines, `TEXT = ${JSON.stringify(text)}`, "MODEL_INFO = {}", ""].join("\n");
}

/** Writes the files and the config of one `local` host `here` that serves `chat` from the venv `tiny`, by the stand-in. */
export function describeFleet(workspace: Workspace, wishes: Wishes): void {
    const { port, adopt, requirements = ["sglang==0.5.23+standin", "pybase64==1.4.2+standin"] } = wishes;
    const wheels = standinWheels(workspace);
    workspace.write("locks/standin.txt", ["--no-index", ...requirements, ""].join("\n"));
    workspace.write("patches/answer.diff", wishes.diff ?? answerDiff(wishes.answer ?? "Lyon."));
    workspace.write("patches/answer.py", wishes.module ?? "");
    workspace.write("model/config.json", "{}");
    workspace.fleet({
        defaults: { root: rootOf(workspace) },
        venvs: {
            tiny: {
                base: adopt ? { adopt } : { python: "3.11", requirements: "locks/standin.txt", findLinks: [wheels] },
                overlays: [{ from: { wheel: "wheels/sgl_kernel-0.4.0+standin-py3-none-any.whl" } }],
                patches: [
                    {
                        module: "sglang.srt.answer",
                        ...(wishes.module ? { file: "patches/answer.py" } : { diff: "patches/answer.diff" }),
                    },
                ],
                checks: { imports: ["sgl_kernel"] },
            },
        },
        services: {
            chat: {
                venv: "tiny",
                model: join(workspace.folder, "model"),
                port,
                supervisor: "process",
                env: { GREETING: "hello", ...wishes.env },
                ready: { timeout: "60s", stable: "1s" },
                stopTimeout: "10s",
                ...wishes.service,
            },
        },
        hosts: { here: { connection: { type: "local", ...wishes.connection }, services: ["chat"] } },
    });
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { project, type Workspace } from "./workspace";

/** What a test may say differently about the venv `tiny`. */
export interface TinyWishes {
    /** Text that the patched server completes with. Default: `Lyon.` */
    answer?: string;
    /** The whole patched module, instead of a diff that changes the answer. */
    module?: string;
    /** The whole diff, instead of one that changes the answer. */
    diff?: string;
    /** Distributions of the locked requirements. Default: those that the stand-in needs. */
    requirements?: string[];
}

/** Where the locked requirements of the venv's base stand, for the base's declaration. */
export const LOCK = "locks/standin.txt";

/** Writes the files of the venv `tiny` (the stand-in, with an overlay and a patch) and gives its declaration on this base. */
export function tinyVenv(workspace: Workspace, wishes: TinyWishes, base: Record<string, unknown>): unknown {
    const { requirements = ["sglang==0.5.23+standin", "pybase64==1.4.2+standin"] } = wishes;
    workspace.write(LOCK, ["--no-index", ...requirements, ""].join("\n"));
    workspace.write("patches/answer.diff", wishes.diff ?? answerDiff(wishes.answer ?? "Lyon."));
    workspace.write("patches/answer.py", wishes.module ?? "");
    const patch = wishes.module ? { file: "patches/answer.py" } : { diff: "patches/answer.diff" };
    return {
        base,
        overlays: [{ from: { wheel: "wheels/sgl_kernel-0.4.0+standin-py3-none-any.whl" } }],
        patches: [{ module: "sglang.srt.answer", ...patch }],
        checks: { imports: ["sgl_kernel"] },
    };
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

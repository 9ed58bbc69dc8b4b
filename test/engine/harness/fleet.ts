import { join } from "node:path";
import { standinWheels } from "./standin";
import type { Workspace } from "./workspace";

/** What a test may say differently about its one host; each is merged over the default. */
export interface Wishes {
    port: number;
    /** Text that the patched server completes with. */
    answer?: string;
    env?: Record<string, unknown>;
    service?: Record<string, unknown>;
}

/** A patch of the stand-in that makes it answer `text`. */
export function answerPatch(text: string): string {
    return [
        "--- a/sglang/srt/answer.py",
        "+++ b/sglang/srt/answer.py",
        "@@ -1,4 +1,4 @@",
        ' """What the server answers. Tests patch this module: each constant shows in a response."""',
        " ",
        " # The text of each completion.",
        '-TEXT = "Paris."',
        `+TEXT = "${text}"`,
        "",
    ].join("\n");
}

/** Writes the files and the config of one `local` host `here` that serves `chat` from the venv `tiny`, by the stand-in. */
export function describeFleet(workspace: Workspace, wishes: Wishes): void {
    const wheels = standinWheels(workspace);
    workspace.write("locks/standin.txt", "--no-index\nsglang==0.5.23+standin\npybase64==1.4.2+standin\n");
    workspace.write("patches/answer.diff", answerPatch(wishes.answer ?? "Lyon."));
    workspace.write("model/config.json", "{}");
    workspace.fleet({
        defaults: { root: join(workspace.host, "fleet") },
        venvs: {
            tiny: {
                base: { python: "3.11", requirements: "locks/standin.txt", findLinks: [wheels] },
                overlays: [{ from: { wheel: "wheels/sgl_kernel-0.4.0+standin-py3-none-any.whl" } }],
                patches: [{ module: "sglang.srt.answer", diff: "patches/answer.diff" }],
                checks: { imports: ["sgl_kernel"] },
            },
        },
        services: {
            chat: {
                venv: "tiny",
                model: join(workspace.folder, "model"),
                port: wishes.port,
                supervisor: "process",
                env: { GREETING: "hello", ...wishes.env },
                ready: { timeout: "60s", stable: "1s" },
                stopTimeout: "10s",
                ...wishes.service,
            },
        },
        hosts: { here: { connection: { type: "local" }, services: ["chat"] } },
    });
}

import type { Connection } from "../../../provider/connection";
import { answerDiff, type Workspace } from "../../engine/harness";
import type { TestHost } from "../../hosts/testHost";

/** Where everything of ours lies on each host: the default. */
export const ROOT = "/opt/sglang-fleet";
/** Port of the service `chat` on each host. */
export const PORT = 8000;
/** An empty model on each host: the stand-in only asks whether it is there. */
export const MODEL = "/srv/model";

/** What a test may say differently about its hosts. */
export interface HostWishes {
    /** Text that the patched server completes with. Default: `Lyon.` */
    answer?: string;
    /** The whole patched module, instead of a diff that changes the answer. */
    module?: string;
    /** The whole diff, instead of one that changes the answer. */
    diff?: string;
    /** Distributions of the locked requirements. Default: those that the stand-in needs. */
    requirements?: string[];
    /** More variables. */
    env?: Record<string, unknown>;
    /** More fields of the service. */
    service?: Record<string, unknown>;
    /** More fields of single hosts, by name; their `connection` is laid over root by key. */
    hosts?: Record<string, { connection?: Record<string, unknown>; [field: string]: unknown }>;
}

/**
 * Writes the files and the config of these hosts, by their names in the stack: each serves `chat` from the venv `tiny`, by the
 * stand-in. `differs`: fields of the service that single hosts have otherwise.
 */
export function describeHosts(
    workspace: Workspace,
    hosts: Record<string, TestHost>,
    wishes: HostWishes = {},
    differs: Record<string, Record<string, unknown>> = {},
): void {
    const { requirements = ["sglang==0.5.23+standin", "pybase64==1.4.2+standin"] } = wishes;
    workspace.write("locks/standin.txt", ["--no-index", ...requirements, ""].join("\n"));
    workspace.write("patches/answer.diff", wishes.diff ?? answerDiff(wishes.answer ?? "Lyon."));
    workspace.write("patches/answer.py", wishes.module ?? "");
    workspace.fleet({
        venvs: {
            tiny: {
                base: { python: "/usr/bin/python3", requirements: "locks/standin.txt", findLinks: ["/opt/wheels"] },
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
                model: MODEL,
                address: "0.0.0.0",
                port: PORT,
                env: { GREETING: "hello", ...wishes.env },
                ready: { timeout: "30s", stable: "1s" },
                stopTimeout: "10s",
                ...wishes.service,
            },
        },
        hosts: Object.fromEntries(
            Object.entries(hosts).map(([name, host]) => [
                name,
                {
                    ...wishes.hosts?.[name],
                    connection: reached(host, wishes.hosts?.[name]?.connection),
                    services: [{ service: "chat", ...differs[name] }],
                },
            ]),
        ),
    });
}

/** A host's connection as config says it. */
export function reached(host: TestHost, changes: Record<string, unknown> = {}): Record<string, unknown> {
    const { name: _name, ...connection }: Connection = host.connection();
    return { ...connection, ...changes };
}

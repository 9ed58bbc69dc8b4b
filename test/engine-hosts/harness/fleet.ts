import type { Connection } from "../../../provider/connection";
import { LOCK, type TinyWishes, tinyVenv, type Workspace } from "../../engine/harness";
import type { TestHost } from "../../hosts/testHost";

/** Where everything of ours lies on each host: the default. */
export const ROOT = "/opt/sglang-fleet";
/** Port of the service `chat` on each host. */
export const PORT = 8000;
/** An empty model on each host: the stand-in only asks whether it is there. */
export const MODEL = "/srv/model";

/** What a test may say differently about its hosts. */
export interface HostWishes extends TinyWishes {
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
    const base = { python: "/usr/bin/python3", requirements: LOCK, findLinks: ["/opt/wheels"] };
    workspace.fleet({
        venvs: { tiny: tinyVenv(workspace, wishes, base) },
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

import { join } from "node:path";
import { standinWheels } from "./standin";
import { LOCK, type TinyWishes, tinyVenv } from "./tiny";
import type { Workspace } from "./workspace";

/** The root of the host, below the workspace's `host/`. */
export const rootOf = (workspace: Workspace): string => join(workspace.host, "fleet");

/** What a test may say differently about its one host. */
export interface Wishes extends TinyWishes {
    port: number;
    /** The host's name. Default: `here`. */
    host?: string;
    /** The host's root. Default: `rootOf`. */
    root?: string;
    /** An existing venv that is adopted, instead of a new one from requirements; absolute path. */
    adopt?: string;
    /** More variables. */
    env?: Record<string, unknown>;
    /** More fields of the service. */
    service?: Record<string, unknown>;
    /** More fields of the host's connection. */
    connection?: Record<string, unknown>;
}

/** Writes the files and the config of one `local` host that serves `chat` from the venv `tiny`, by the stand-in. */
export function describeFleet(workspace: Workspace, wishes: Wishes): void {
    const { port, adopt } = wishes;
    const base = adopt ? { adopt } : { python: "3.11", requirements: LOCK, findLinks: [standinWheels(workspace)] };
    workspace.write("model/config.json", "{}");
    workspace.fleet({
        defaults: { root: wishes.root ?? rootOf(workspace) },
        venvs: { tiny: tinyVenv(workspace, wishes, base) },
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
        hosts: { [wishes.host ?? "here"]: { connection: { type: "local", ...wishes.connection }, services: ["chat"] } },
    });
}

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { deflateSync } from "node:zlib";

/** The agent as it travels: zlib-compressed JSON of `{module name: source}`. Read once per process. */
export function bundle(): Buffer {
    packed ??= deflateSync(JSON.stringify(agentSources(agentFolder(__dirname))), { level: 9 });
    return packed;
}

let packed: Buffer | undefined;

/** The folder of the agent's sources, from `provider/host` and from `dist/provider/host` alike: the nearest `agent` above. */
export function agentFolder(from: string): string {
    const folder = join(from, "agent");
    if (existsSync(join(folder, "main.py"))) {
        return folder;
    }
    if (dirname(from) === from) {
        throw new Error(
            "The agent's sources are missing: no folder `agent` with main.py above the provider. Reinstall pulumi-sglang.",
        );
    }
    return agentFolder(dirname(from));
}

/** Every module below `folder` by name: `agent`, `agent.look`, `agent.staging.env`, … */
export function agentSources(folder: string, name = "agent"): Record<string, string> {
    const sources: Record<string, string> = {};
    for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
        const path = join(folder, entry.name);
        if (entry.isDirectory() && entry.name !== "__pycache__") {
            Object.assign(sources, agentSources(path, `${name}.${entry.name}`));
        } else if (entry.name.endsWith(".py")) {
            const stem = entry.name.slice(0, -".py".length);
            sources[stem === "__init__" ? name : `${name}.${stem}`] = readFileSync(path, "utf8");
        }
    }
    return sources;
}

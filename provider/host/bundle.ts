import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { deflateSync } from "node:zlib";

/** The agent as it travels: zlib-compressed JSON of `{module name: source}`, in two parts. */
export interface Bundle {
    /** What a look imports; all that a host is sent when nothing changes. */
    first: Buffer;
    /** The rest, sent when the agent asks for it. */
    rest: Buffer;
}

let packed: Bundle | undefined;

/** The agent of this version; read once per process. */
export function bundle(): Bundle {
    packed ??= pack(agentSources(agentFolder(__dirname)));
    return packed;
}

function pack(sources: Record<string, string>): Bundle {
    const needed = imported(sources, ["agent.bundle", "agent.main", "agent.look"]);
    const part = (wanted: boolean): Buffer => {
        const modules = Object.entries(sources).filter(([name]) => needed.has(name) === wanted);
        return deflateSync(JSON.stringify(Object.fromEntries(modules)), { level: 9 });
    };
    let rest: Buffer | undefined;
    return {
        first: part(true),
        get rest() {
            rest ??= part(false);
            return rest;
        },
    };
}

/** The folder of the agent's sources, from `provider/host` and from `dist/provider/host` alike: the nearest `agent` above. */
export function agentFolder(from: string): string {
    const folder = join(from, "agent");
    if (existsSync(join(folder, "main.py"))) {
        return folder;
    }
    if (dirname(from) === from) {
        throw new Error(
            "The agent's sources are missing: no folder `agent` above the provider. Reinstall pulumi-sglang.",
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

/**
 * The modules that `roots` import at once, with their packages, and those that they name in `import_module("…")`. A guess
 * that is too small costs a round trip, for the agent asks for what it lacks; so imports within functions do not count.
 */
export function imported(sources: Record<string, string>, roots: string[]): Set<string> {
    const found = new Set<string>();
    const visit = (name: string): void => {
        const source = sources[name];
        if (source === undefined || found.has(name)) {
            return;
        }
        found.add(name);
        const parent = name.slice(0, name.lastIndexOf("."));
        for (const other of [parent, ...mentioned(source)]) {
            visit(other);
        }
    };
    roots.forEach(visit);
    return found;
}

function mentioned(source: string): string[] {
    const froms = [...source.matchAll(/^from (agent[\w.]*) import (.+)$/gm)].flatMap(([, from = "", names = ""]) => [
        from,
        ...names.split(",").map((name) => `${from}.${name.trim().split(" ")[0]}`),
    ]);
    const others = [...source.matchAll(/^import (agent[\w.]*)|import_module\("(agent[\w.]*)"\)/gm)];
    return [...froms, ...others.map(([, plain, lazy]) => plain ?? lazy ?? "")];
}

import type { Path } from "../path";
import type { FlagValue, SglangServiceInputs } from "./inputs/sglangService";

/** Launch flags that are fields of their own, or must not be in argv at all. */
const FIELDS: Record<string, string> = {
    "model-path": "model",
    model: "model",
    "served-model-name": "servedModelName",
    host: "address",
    port: "port",
    "api-key": "apiKey",
    "admin-api-key": "adminApiKey",
};

type Served = Pick<SglangServiceInputs, "model" | "servedModelName" | "address" | "port" | "flags" | "extraArgs">;
export type Flags = Record<string, FlagValue>;

/** `tp_size` and `--tp-size` are `tp-size`. */
export function flagName(name: string): string {
    return name.replace(/^--/, "").replaceAll("_", "-");
}

/** The server's arguments, after the module. Flags are sorted, as a map has no order of its own. */
export function renderArgs(inputs: Served): string[] {
    const served = inputs.servedModelName === undefined ? [] : ["--served-model-name", inputs.servedModelName];
    const fields = ["--model-path", inputs.model, ...served, "--host", inputs.address, "--port", String(inputs.port)];
    return [...fields, ...renderFlags(inputs.flags), ...inputs.extraArgs];
}

export function renderFlags(flags: Flags): string[] {
    const named = Object.entries(flags).map(([name, value]) => [flagName(name), value] as const);
    return named.sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([name, value]) => renderFlag(name, value));
}

function renderFlag(name: string, value: FlagValue): string[] {
    if (typeof value === "boolean") {
        return value ? [`--${name}`] : [];
    }
    if (Array.isArray(value)) {
        return value.length === 0 ? [] : [`--${name}`, ...value.map(String)];
    }
    // A value that begins with a dash would be taken for a flag.
    return String(value).startsWith("-") ? [`--${name}=${value}`] : [`--${name}`, String(value)];
}

/** Arguments read back: each flag with its values; `rest` is what stands before any flag. */
export function parseArgs(args: string[]): { flags: Record<string, string | true | string[]>; rest: string[] } {
    const flags: Record<string, string | true | string[]> = {};
    const rest: string[] = [];
    let open: string | undefined;
    for (const arg of args) {
        const match = /^--([A-Za-z][A-Za-z0-9_-]*)(?:=([\s\S]*))?$/.exec(arg);
        if (match !== null) {
            const name = flagName(match[1]);
            flags[name] = match[2] ?? true;
            open = match[2] === undefined ? name : undefined;
        } else if (open === undefined) {
            rest.push(arg);
        } else {
            const before = flags[open];
            flags[open] = before === true ? arg : [...(Array.isArray(before) ? before : [before]), arg];
        }
    }
    return { flags, rest };
}

/** What cannot be meant: a flag given twice, as a field and as a flag, or in two spellings. */
export function flagProblems(inputs: Pick<Served, "flags" | "extraArgs">): { path: Path; text: string }[] {
    const seen = new Map<string, string>();
    const twice = Object.keys(inputs.flags).flatMap((key) => {
        const path = ["flags", key];
        const name = flagName(key);
        const other = seen.get(name);
        seen.set(name, key);
        if (name in FIELDS) {
            return [{ path, text: `--${name} has a field of its own: give \`${FIELDS[name]}\`, and take it out here` }];
        }
        return other === undefined ? [] : [{ path, text: `the same flag as \`${other}\`` }];
    });
    const extra = inputs.extraArgs.flatMap((arg, at) => {
        const name = /^--([^=]+)/.exec(arg)?.[1];
        const known = name === undefined ? undefined : flagName(name);
        if (known === undefined || !(known in FIELDS || seen.has(known))) {
            return [];
        }
        return [
            {
                path: ["extraArgs", at],
                text:
                    known in FIELDS
                        ? `--${known} has a field of its own: give \`${FIELDS[known]}\`, and take it out here`
                        : `--${known} is given by \`flags\``,
            },
        ];
    });
    return [...twice, ...extra];
}

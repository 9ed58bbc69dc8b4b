import { fleetSchema, type Schema } from "./schema";

const head = `# Config reference

Generated from the schema in \`components/config/\` by \`npm run reference\`; a test fails when it is stale.

A stack is one structured key, \`sglang-fleet:fleet\`, in \`Pulumi.<stack>.yaml\`. Editors that know YAML schemas check it while
you type when the file begins with \`# yaml-language-server: $schema=docs/fleet.schema.json\`.

- Secrets stand in keys of their own, encrypted by Pulumi (\`pulumi config set --secret hfToken …\`), and are named:
  \`{ secret: hfToken }\`.
- Files and directories of the control machine are relative to the project. Paths on a host are absolute; on a \`local\` host
  they may be relative to the project too.
- A duration is a number of seconds, or \`90s\`, \`20m\`, \`2h\`, \`1h30m\`.
- What a host's entry says wins over its service, and that over \`defaults.service\`. Maps (\`env\`, \`flags\`, \`limits\`, \`ready\`,
  \`drain\`, \`checks\`) are merged key by key, anything else is replaced. A variable set to \`null\` and a flag set to \`false\` are left out.
- Everything that is wrong is said at once, each with its path.
`;

/** The config reference: a table for each kind of thing. */
export function page(): string {
    const { $defs = {}, ...top } = fleetSchema();
    const all: Record<string, Schema> = { fleet: top, ...$defs };
    const names = [...new Set([...ORDER, ...Object.keys(all)])];
    const sections = names.map((name) => section(name, all[name], $defs));
    return [head, ...sections].join("\n");
}

/** From the whole to its parts. */
const ORDER = [
    "fleet",
    "defaults",
    "venv",
    "base",
    "overlay",
    "from",
    "patch",
    "checks",
    "service",
    "host",
    "placement",
];

/** Kinds that add nothing to another one, or to a sentence of the page's head. */
const ALIKE: Record<string, string> = { placement: "service" };

function section(name: string, schema: Schema, defs: Record<string, Schema>): string {
    const like = ALIKE[name];
    const known = like === undefined ? {} : (defs[like].properties ?? {});
    const fields = Object.entries(schema.properties ?? {}).filter(([field]) => !(field in known));
    const rows = fields.map(([field, value]) => row(field, value, schema.required?.includes(field) ?? false));
    const more = like === undefined ? [] : [`And every field of a [${like}](#${like}).\n`];
    const table = ["| field | form | meaning |", "| --- | --- | --- |", ...rows].join("\n");
    return [`## ${name}\n`, `${schema.description}\n`, `${table}\n`, ...more].join("\n");
}

function row(field: string, schema: Schema, required: boolean): string {
    const meaning = schema.description ?? "";
    return `| \`${field}\`${required ? " (needed)" : ""} | ${cell(form(schema))} | ${cell(meaning)} |`;
}

/** `|` would end a cell. */
function cell(text: string): string {
    return text.replaceAll("|", "\\|");
}

/** The form of a value in a few words. */
function form(schema: Schema): string {
    if (schema.$ref !== undefined) {
        const name = schema.$ref.split("/").at(-1);
        return `[${name}](#${name})`;
    }
    if (schema.pattern?.includes("h)?") || schema.anyOf?.some((one) => one.pattern?.includes("h)?"))) {
        return "duration";
    }
    if (schema.anyOf !== undefined) {
        return [...new Set(schema.anyOf.map(form))].join(" or ");
    }
    if (schema.enum !== undefined || schema.const !== undefined) {
        return (schema.enum ?? [schema.const]).map((value) => `\`${String(value)}\``).join(" or ");
    }
    if (schema.items !== undefined) {
        return `list of ${form(schema.items)}`;
    }
    if (typeof schema.additionalProperties === "object") {
        return `map of ${form(schema.additionalProperties)}`;
    }
    return [schema.type ?? "anything"]
        .flat()
        .map((type) => WORDS[type] ?? type)
        .join(" or ");
}

const WORDS: Record<string, string> = {
    string: "text",
    integer: "whole number",
    boolean: "true or false",
    object: "mapping",
    null: "null",
};

import { resolve } from "node:path";
import type { FleetContext } from "./context";
import type { Issue } from "./issues";
import { suggestion } from "./nearest";
import { list, mapping } from "./raw";

type Path = Issue["path"];

/** Files and directories of the project that the config names and that are not there. */
export function missingFiles(raw: unknown, context: FleetContext): Issue[] {
    const named = Object.entries(mapping(mapping(raw).venvs)).flatMap(([name, value]) => {
        const venv = mapping(value);
        const at = (rest: Path): Path => ["venvs", name, ...rest];
        return [
            ...files(venv.base, ["requirements"], at(["base"])),
            ...list(venv.overlays).flatMap((one, index) =>
                files(mapping(one).from, ["wheel", "directory", "archive"], at(["overlays", index, "from"])),
            ),
            ...list(venv.patches).flatMap((one, index) => files(one, ["file", "diff"], at(["patches", index]))),
        ];
    });
    return named
        .filter(({ file }) => !context.exists(resolve(context.project, file)))
        .map(({ path, file }) => ({
            path,
            message: `no ${path.at(-1) === "directory" ? "directory" : "file"} \`${file}\` in the project (${resolve(context.project, file)})`,
        }));
}

/** References to config keys that are not set. */
export function missingSecrets(raw: unknown, context: FleetContext): Issue[] {
    return references(raw, [])
        .filter(({ name }) => !context.secrets.includes(name))
        .map(({ path, name }) => ({
            path,
            message: `no secret is named \`${name}\` (pulumi config set --secret ${name})${suggestion(name, context.secrets)}`,
        }));
}

/** `{ secret: NAME }` wherever it stands; maps whose keys are the user's own names are not taken for one. */
function references(value: unknown, path: Path): { path: Path; name: string }[] {
    if (Array.isArray(value)) {
        return value.flatMap((one, index) => references(one, [...path, index]));
    }
    const { secret } = mapping(value);
    if (
        typeof secret === "string" &&
        Object.keys(mapping(value)).length === 1 &&
        !["env", "options", "flags"].includes(String(path.at(-1)))
    ) {
        return [{ path, name: secret }];
    }
    return Object.entries(mapping(value)).flatMap(([key, one]) => references(one, [...path, key]));
}

function files(value: unknown, keys: string[], path: Path): { path: Path; file: string }[] {
    return keys.flatMap((key) => {
        const file = mapping(value)[key];
        return typeof file === "string" && file !== "" && !/^https?:/.test(file)
            ? [{ path: [...path, key], file }]
            : [];
    });
}

import { isAbsolute, resolve } from "node:path";
import type { Issue } from "./issues";
import { isLocal, list, mapping, placements } from "./raw";

/** A path on the host. On the control machine itself (`local`) it may be relative to the project. */
export function hostPath(path: string, local: boolean, project: string): string {
    return local ? resolve(project, path) : path;
}

/**
 * A model: a path on the host, or a hub id. On the control machine `./models/tiny` is relative to the project;
 * `Qwen/Qwen3-8B` is a hub id everywhere.
 */
export function modelPath(model: string, local: boolean, project: string): string {
    return isRelativeModel(model) ? hostPath(model, local, project) : model;
}

function isRelativeModel(model: unknown): boolean {
    return /^\.{1,2}\//.test(String(model));
}

/** Paths on hosts that are reached by SSH and that would be relative to nothing. */
export function relativePaths(raw: unknown): Issue[] {
    const { defaults, venvs, hosts } = mapping(raw);
    const far = placements(raw).filter(({ local }) => !local);
    const ofHosts = Object.entries(mapping(hosts)).filter(([name]) => !isLocal(raw, name));
    const adopted = [
        ...ofHosts.flatMap(([name, host]) =>
            list(mapping(host).venvs).map((venv) => ({ venv: String(venv), host: name })),
        ),
        ...far.map(({ merged, host }) => ({ venv: String(merged.venv), host })),
    ].map(({ venv, host }) => ({ host, venv, adopt: mapping(mapping(mapping(venvs)[venv]).base).adopt }));
    return [
        ...ofHosts.flatMap(([name, host]) => {
            const { root } = mapping(host);
            return root === undefined
                ? relative("root", mapping(defaults).root, ["defaults"], `, for \`${name}\` is not \`local\``)
                : relative("root", root, ["hosts", name]);
        }),
        ...far.flatMap(({ merged, path }) => [
            ...relative("workingDirectory", merged.workingDirectory, path),
            ...relative("log", merged.log, path),
            ...(isRelativeModel(merged.model) ? relative("model", merged.model, path) : []),
        ]),
        ...Object.entries(mapping(venvs)).flatMap(([name, venv]) =>
            list(mapping(venv).overlays).flatMap((overlay, index) => {
                const { venv: donor, host } = mapping(mapping(overlay).from);
                const used = adopted.some((one) => one.venv === name);
                const onControl = host === undefined ? !used : isLocal(raw, String(host));
                const at = ["venvs", name, "overlays", index, "from"];
                return onControl ? [] : relative("venv", donor, at);
            }),
        ),
        ...adopted.flatMap(({ host, venv, adopt }) => relative(`adopt\` of venv \`${venv}`, adopt, ["hosts", host])),
    ];
}

function relative(field: string, path: unknown, at: Issue["path"], why = ""): Issue[] {
    if (typeof path !== "string" || isAbsolute(path)) {
        return [];
    }
    return [{ path: at, message: `\`${field}\` is \`${path}\`: expected an absolute path on the host${why}` }];
}

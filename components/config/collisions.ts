import type { Issue } from "./issues";
import { connectionOf, list, mapping, placements, type RawPlacement } from "./raw";

/** What cannot both be: names, ports, GPUs and machines that are given twice. */
export function collisions(raw: unknown): Issue[] {
    const all = placements(raw);
    const listening = all.filter(({ merged }) => merged.port !== undefined);
    return [
        ...twice(
            all,
            ({ host, name }) => `${host}/${name}`,
            ({ name }, first) => `${first} is named \`${name}\` already; give one of them another name with \`as\``,
        ),
        ...twice(
            listening,
            ({ host, merged }) => `${host}/${String(merged.port)}`,
            ({ merged }, first) => `port ${String(merged.port)} is that of ${first} already`,
        ),
        ...all
            .filter(({ merged }) => merged.gpus !== undefined && "CUDA_VISIBLE_DEVICES" in mapping(merged.env))
            .map(({ path }) => ({
                path,
                message: "has both `gpus` and a variable CUDA_VISIBLE_DEVICES; say it once",
            })),
        ...machines(raw),
        ...sameNames(raw),
    ];
}

/** GPUs that two services of one host share, where not both say that they do: the second to start will be refused. */
export function sharedGpus(raw: unknown): { host: string; message: string }[] {
    const first = new Map<string, string>();
    const sharing = new Set(
        placements(raw)
            .filter(({ merged }) => merged.shareGpus === true)
            .map(({ host, name }) => `${host}/${name}`),
    );
    const uses = placements(raw).flatMap(({ host, name, merged }) =>
        list(merged.gpus).map((gpu) => ({ host, name, gpu: String(gpu), shares: merged.shareGpus === true })),
    );
    return uses.flatMap(({ host, name, gpu, shares }) => {
        const before = first.get(`${host}/${gpu}`);
        first.set(`${host}/${gpu}`, before ?? name);
        const message = `GPU ${gpu} is given to both \`${before}\` and \`${name}\`; \`shareGpus: true\` of both says that it is meant`;
        return before === undefined || (shares && sharing.has(`${host}/${before}`)) ? [] : [{ host, message }];
    });
}

function twice(
    all: RawPlacement[],
    key: (one: RawPlacement) => string,
    message: (one: RawPlacement, first: string) => string,
): Issue[] {
    const first = new Map<string, RawPlacement>();
    return all.flatMap((one) => {
        const before = first.get(key(one));
        first.set(key(one), before ?? one);
        return before === undefined
            ? []
            : [{ path: one.path, message: message(one, `\`services[${before.path[3]}]\``) }];
    });
}

/** One address, port and root under two names: each would take the other's things for its own. */
function machines(raw: unknown): Issue[] {
    const { defaults, hosts } = mapping(raw);
    const first = new Map<string, string>();
    return Object.entries(mapping(hosts)).flatMap(([host, value]) => {
        const to = connectionOf(raw, host);
        const address = to.type === "local" ? "local" : `${String(to.host ?? host)}:${String(to.port ?? 22)}`;
        const key = `${address} ${String(mapping(value).root ?? mapping(defaults).root)}`;
        const before = first.get(key);
        first.set(key, before ?? host);
        const message = `is the same machine and root as \`${before}\`: a machine stands here once, or with another \`root\``;
        return before === undefined ? [] : [{ path: ["hosts", host], message }];
    });
}

/** `a` with `b-c` and `a-b` with `c`: resources are named by host and thing, and two would have one name. */
function sameNames(raw: unknown): Issue[] {
    const hosts = Object.entries(mapping(mapping(raw).hosts));
    const names = [
        ...hosts.flatMap(([host, value]) =>
            list(mapping(value).venvs).map((venv) => ({ host, name: `${host}-${String(venv)}` })),
        ),
        ...placements(raw).flatMap(({ host, name, merged }) => [
            { host, name: `${host}-${name}` },
            { host, name: `${host}-${String(merged.venv)}` },
        ]),
    ];
    const first = new Map<string, string>();
    return names.flatMap(({ host, name }) => {
        const before = first.get(name) ?? host;
        first.set(name, before);
        const message = `a resource would be named \`${name}\`, like one of host \`${before}\`; rename what makes them so`;
        return before === host ? [] : [{ path: ["hosts", host], message }];
    });
}

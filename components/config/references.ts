import type { Issue } from "./issues";
import { suggestion } from "./nearest";
import { list, mapping, placements, type Raw } from "./raw";

type Path = Issue["path"];

/** Names that nothing has: venvs of services and hosts, services of hosts, hosts of the rollout, donors. */
export function unknownNames(raw: unknown): Issue[] {
    const { defaults, venvs, services, hosts, rollout } = mapping(raw);
    const donor = (from: unknown, path: Path) => unknownName(mapping(from).host, path, "host", mapping(hosts));
    const venv = (name: unknown, path: Path) => unknownName(name, path, "venv", mapping(venvs));
    return [
        ...venv(mapping(mapping(defaults).service).venv, ["defaults", "service", "venv"]),
        ...Object.entries(mapping(services)).flatMap(([name, service]) =>
            venv(mapping(service).venv, ["services", name, "venv"]),
        ),
        ...Object.entries(mapping(hosts)).flatMap(([name, host]) =>
            list(mapping(host).venvs).flatMap((one, index) => venv(one, ["hosts", name, "venvs", index])),
        ),
        ...placements(raw).flatMap(({ service, own, path }) => [
            ...unknownName(
                service,
                Object.keys(own).length === 1 ? path : [...path, "service"],
                "service",
                mapping(services),
            ),
            ...venv(own.venv, [...path, "venv"]),
        ]),
        ...Object.entries(mapping(venvs)).flatMap(([name, value]) =>
            list(mapping(value).overlays).flatMap((one, index) =>
                donor(mapping(one).from, ["venvs", name, "overlays", index, "from", "host"]),
            ),
        ),
        ...list(mapping(rollout).canary).flatMap((one, index) =>
            unknownName(one, ["rollout", "canary", index], "host", mapping(hosts)),
        ),
    ];
}

/** Fields that a service needs and that neither it, nor the defaults, nor the host's entry has. */
export function missingFields(raw: unknown): Issue[] {
    const services = mapping(mapping(raw).services);
    return placements(raw)
        .filter(({ service }) => typeof service === "string" && Object.hasOwn(services, service))
        .flatMap(({ path, service, merged }) =>
            ["venv", "model", "port"]
                .filter((field) => merged[field] === undefined)
                .map((field) => ({
                    path,
                    message: `service \`${String(service)}\` has no \`${field}\`: set it there, in \`defaults.service\` or here`,
                })),
        );
}

function unknownName(name: unknown, path: Path, kind: string, known: Raw): Issue[] {
    if (typeof name !== "string" || Object.hasOwn(known, name)) {
        return [];
    }
    return [{ path, message: `no ${kind} is named \`${name}\`${suggestion(name, Object.keys(known))}` }];
}

import type { Connection } from "../connection";
import type { HostFacts, MachineFacts } from "../host/facts";
import type { ServiceSpec } from "../host/serviceFacts";
import { renderArgs } from "./argv";
import type { SglangServiceInputs } from "./inputs";

const EVERYWHERE = ["0.0.0.0", "::"];
/** Packages that say what serves; the kernels have had two names. */
const SHOWN_VERSIONS = ["sglang", "sgl-kernel", "sglang-kernel", "torch"];

/** The supervisor that a declaration means on a machine. */
export function supervisorOn(
    machine: Pick<MachineFacts, "systemd">,
    declared: SglangServiceInputs["supervisor"],
): "systemd" | "process" {
    return declared === "auto" ? (machine.systemd ? "systemd" : "process") : declared;
}

/** The process as the host is told of it. Keys are not in it. */
export function specOf(inputs: SglangServiceInputs, supervisor: "systemd" | "process"): ServiceSpec {
    const { module, address, port, model, user, group, workingDirectory, log, stopTimeout } = inputs;
    const { shareGpus, takeOverPort } = inputs;
    const limits = Object.fromEntries(Object.entries(inputs.limits).map(([name, value]) => [name, String(value)]));
    return {
        module,
        args: renderArgs(inputs),
        address,
        port,
        modelPath: model.startsWith("/") ? model : null,
        user: user ?? null,
        group: group ?? null,
        workingDirectory: workingDirectory ?? null,
        limits,
        supervisor,
        log: log ?? null,
        shareGpus,
        takeOverPort,
        stopTimeout,
    };
}

/** The rest of `service.activate`: what it runs from, what it must pass, and when it counts as serving. */
export function activationOf(
    inputs: SglangServiceInputs,
    spec: ServiceSpec,
    facts: HostFacts,
): Record<string, unknown> {
    const { venv, release, env, apiKey, adminApiKey, gates, drain, ready } = inputs;
    return {
        venv,
        release,
        env,
        spec,
        secrets: { apiKey: apiKey ?? null, adminApiKey: adminApiKey ?? null },
        gates: { ...gates, patched: patchedFiles(facts, venv, release) },
        drain: drain === undefined ? null : { ...drain, undo: drain.undo ?? null },
        ready: { ...ready, path: ready.path ?? null },
    };
}

/** Where clients reach it: by the host's own address when it listens everywhere. */
export function endpointOf(connection: Connection, { address, port }: { address: string; port: number }): string {
    const host = connection.type === "local" ? "127.0.0.1" : (connection.host ?? connection.name);
    const reached = EVERYWHERE.includes(address) ? host : address;
    return `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
}

/** Versions of what serves, by its release's metadata; undefined when the release is not there yet. */
export function versionsOf(facts: HostFacts, venv: string, release: string): Record<string, string> | undefined {
    const packages = facts.venvs[venv]?.releases[release]?.packages;
    return (
        packages &&
        Object.fromEntries(
            SHOWN_VERSIONS.filter((name) => packages[name] !== undefined).map((name) => [name, packages[name]]),
        )
    );
}

/** The patched files of a release as the service's interpreter must find them. */
function patchedFiles(
    facts: HostFacts,
    venv: string,
    release: string,
): { module: string | null; path: string; sha256: string }[] {
    const files = facts.venvs[venv]?.releases[release]?.files ?? {};
    return Object.entries(files).map(([path, sha256]) => ({ module: moduleOf(path), path, sha256 }));
}

/** `sglang/srt/x.py` is `sglang.srt.x`; a file that is no module has none. */
export function moduleOf(path: string): string | null {
    const match = /^((?:[A-Za-z_]\w*\/)*[A-Za-z_]\w*)\.py$/.exec(path);
    return match === null ? null : match[1].replaceAll("/", ".").replace(/\.__init__$/, "");
}

import type { HostFacts } from "../host/facts";
import type { PatchedFacts } from "../host/serviceFacts";
import { moduleOf } from "./serviceSpec";

/** One patched file of a service, and what the process that serves has to do with it. */
export interface PatchedState {
    /** The file that the service's interpreter imports; absolute path, "" where it is gone. */
    file: string;
    /** Its bytes against the declared ones, by hash. */
    content: "as declared" | "differs" | "missing";
    /** Whether the process was started after the file was put there. */
    newer: boolean;
}

/** By module; a file that is no module by its path below site-packages. */
export type Patched = Record<string, PatchedState>;

/** What a process runs. */
export function patchedLive(facts: PatchedFacts[] | undefined): Patched {
    return byModule(facts ?? [], ({ file, sha256, declared, older }) => ({
        file: file ?? "",
        content: sha256 === null ? "missing" : sha256 === declared ? "as declared" : "differs",
        newer: !older,
    }));
}

/** What a process will run from a release; undefined when the release is not there yet. */
export function patchedOf(facts: HostFacts, venv: string, release: string): Patched | undefined {
    const located = facts.venvs[venv]?.releases[release]?.located;
    const files = located && Object.entries(located).map(([path, file]) => ({ path, file }));
    return files && byModule(files, ({ file }) => ({ file, content: "as declared", newer: true }));
}

/** A sentence for each file that is not what the process should run. */
export function notAsPatched(patched: Patched | undefined): string[] {
    return Object.entries(patched ?? {}).flatMap(([module, { file, content, newer }]) => {
        if (content === "missing") {
            return [`${module} is gone from the release`];
        }
        const said = content === "differs" ? "differs from what is declared" : "is as declared";
        const age = newer ? [] : ["the process is older than it"];
        return content === "as declared" && newer ? [] : [`${module} is ${file}: it ${[said, ...age].join(", ")}`];
    });
}

function byModule<F extends { path: string }>(files: F[], state: (file: F) => PatchedState): Patched {
    return Object.fromEntries(files.map((file) => [moduleOf(file.path) ?? file.path, state(file)]));
}

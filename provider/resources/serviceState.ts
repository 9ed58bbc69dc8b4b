import { counted } from "../counted";
import type { HostFacts, MachineFacts } from "../host/facts";
import type { ProcessFacts, ServiceFacts, UnitFacts } from "../host/serviceFacts";
import { parseArgs } from "./argv";
import type { FlagValue, SglangServiceInputs } from "./inputs";
import { isLoaded } from "./loaded";
import { asDeclared } from "./serviceFlags";
import { supervisorOn } from "./serviceSpec";

/** How the process was launched, in the terms of its declaration. */
export interface Launched {
    venv: string;
    release: string;
    env: string;
    module: string;
    model: string;
    servedModelName?: string;
    port: number;
    address: string;
    flags: Record<string, FlagValue>;
    extraArgs: string[];
    user?: string;
    group?: string;
    workingDirectory?: string;
    limits: Record<string, string | undefined>;
    supervisor: string;
    log?: string;
    stopTimeout: number;
}

type Current = NonNullable<ServiceFacts["current"]>;

/** Reads a service as it stands back into the terms of its declaration. What runs counts, then what was last committed. */
export function liveService(
    live: ServiceFacts,
    machine: MachineFacts,
    declared: SglangServiceInputs | undefined,
    venvs: HostFacts["venvs"] = {},
): Launched & { running: string; process: string; unit: string; pid?: number } {
    const { current, process } = live;
    const shown = current === null ? nothing() : launched(current, declared, machine, process ?? undefined);
    return {
        ...shown,
        running: runningOf(live),
        process: processOf(process, live.linkedTo ?? null, changedFiles(current, process, venvs)),
        unit: unitOf(live.unit, live.altered ?? []),
        pid: process?.pid,
    };
}

/** The committed launch, with the arguments and the release of the process that really runs. */
export function launched(
    current: Current,
    declared: SglangServiceInputs | undefined,
    machine: MachineFacts,
    process?: ProcessFacts,
): Launched {
    const { spec } = current;
    const args = process !== undefined && !process.argsMatch && process.args.length > 0 ? process.args : spec.args;
    const { extraArgs, flags } = split(args, declared?.extraArgs ?? []);
    const { "model-path": model, "served-model-name": served, host, port, ...rest } = flags;
    const auto = declared?.supervisor === "auto" && supervisorOn(machine, "auto") === spec.supervisor;
    return {
        venv: current.venv,
        release: process === undefined ? current.release : (process.release ?? "another interpreter"),
        env: current.env,
        module: spec.module,
        model: text(model) ?? "",
        servedModelName: text(served),
        port: Number(port ?? spec.port),
        address: text(host) ?? spec.address,
        flags: asDeclared(rest, declared?.flags ?? {}),
        extraArgs,
        user: spec.user ?? undefined,
        group: spec.group ?? undefined,
        workingDirectory: spec.workingDirectory ?? undefined,
        limits: spec.limits,
        supervisor: auto ? "auto" : spec.supervisor,
        log: spec.log ?? undefined,
        stopTimeout: spec.stopTimeout,
    };
}

/** The state of a service of which nothing was ever committed: its first activation did not end well. */
function nothing(): Launched {
    return {
        venv: "",
        release: "",
        env: "",
        module: "",
        model: "",
        port: 0,
        address: "",
        flags: {},
        extraArgs: [],
        limits: {},
        supervisor: "",
        stopTimeout: 0,
    };
}

/** Declared extra arguments stand last; what follows otherwise is read as flags. */
function split(
    args: string[],
    extra: string[],
): { flags: Record<string, string | true | string[]>; extraArgs: string[] } {
    const at = args.length - extra.length;
    const ends = extra.length > 0 && extra.every((arg, index) => args[at + index] === arg);
    const { flags, rest } = parseArgs(ends ? args.slice(0, at) : args);
    return { flags, extraArgs: ends ? extra : rest };
}

function text(value: string | true | string[] | undefined): string | undefined {
    return value === undefined || value === true ? undefined : Array.isArray(value) ? value.join(" ") : value;
}

function runningOf({ running, activation }: ServiceFacts): string {
    const unfinished = activation?.state === "running" || activation?.state === "interrupted";
    return unfinished ? `activation ${activation.state} at stage ${activation.stage}` : running;
}

/**
 * How many files of the release that runs, of those that it may have loaded, have not the bytes that it was made of. The venv's row puts them back, and then the process is older
 * than they are: that it restarts is planned together with it, not found by the next command.
 */
function changedFiles(current: Current | null, process: ProcessFacts | null, venvs: HostFacts["venvs"]): number {
    const made = venvs[current?.venv ?? ""]?.releases[process?.release ?? ""];
    if (made === undefined) {
        return 0;
    }
    const beyond = made.driftCount - made.drift.length;
    const bytes = made.drift.filter(({ mode }) => mode === undefined);
    const named = bytes.filter(({ path }) => isLoaded(path) || Object.hasOwn(made.located, path)).length;
    return named + beyond + Object.values(made.exchanged).reduce((sum, { loaded }) => sum + loaded, 0);
}

function processOf(process: ProcessFacts | null, linkedTo: string | null, changed: number): string {
    if (process === null) {
        return linkedTo === null ? "current" : ledTo(linkedTo);
    }
    const [first, ...more] = process.newerFiles;
    const said = [
        ...(process.linkedTo ? [ledTo(process.linkedTo)] : []),
        ...(process.argsMatch ? [] : ["started with other arguments"]),
        ...(process.envDiffers.length === 0 ? [] : [`started with another ${process.envDiffers.join(", ")}`]),
        ...(process.limitsDiffer.length === 0 ? [] : [`limit ${process.limitsDiffer.join(", ")}`]),
        ...(changed === 0 ? [] : [`runs from a release with ${counted(changed, "changed file")}`]),
        ...(first === undefined ? [] : [`older than ${first}${more.length === 0 ? "" : ` and ${more.length} more`}`]),
    ];
    return said.length === 0 ? "current" : said.join("; ");
}

function ledTo(place: string): string {
    return `its link leads to ${place}`;
}

/** What the supervisor has of it: the unit, and our own programs that start the server. */
function unitOf(unit: UnitFacts | null, altered: string[]): string {
    const said = [...(unit === null ? [] : faultsOf(unit)), ...altered];
    return said.length === 0 ? "as written" : said.join("; ");
}

function faultsOf(unit: UnitFacts): string[] {
    const edited = unit.exists && !unit.asWritten && !unit.masked;
    return [
        ...(unit.exists ? [] : ["missing"]),
        ...(edited ? ["edited on the host"] : []),
        ...(unit.linked ? [`linked to ${unit.linked}`] : []),
        ...(unit.masked ? ["masked"] : []),
        // Of a link systemd says `linked`, whatever its [Install] section has.
        ...(unit.exists && !unit.linked && !unit.masked && !unit.enabled ? ["disabled"] : []),
        ...(unit.dropIns.length === 0 ? [] : [`drop-in ${unit.dropIns.join(", ")}`]),
        ...(unit.needsReload ? ["not reloaded since it was changed"] : []),
    ];
}

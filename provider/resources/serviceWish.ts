import { same } from "../canonical";
import type { Change, Kept } from "../resource";
import { field, map, moved } from "./common";
import type { SglangServiceInputs } from "./inputs";
import { flagChanges } from "./serviceFlags";
import type { Patched } from "./servicePatched";
import { endpointOf } from "./serviceSpec";
import type { Launched } from "./serviceState";

export interface SglangServiceWish extends SglangServiceInputs {
    /** Keyed digest of the API keys; "" when there are none. */
    keys: string;
    /** Key of that digest, hex; stays as long as the resource. */
    salt: string;
    /** What is wanted of the process, so that what is the case shows beside it. */
    running: "running";
    process: "current";
    unit: "as written";
}

export interface SglangServiceState extends Kept, Launched {
    root: string;
    name: string;
    keys: string;
    running: string;
    process: string;
    unit: string;
    endpoint: string;
    pid?: number;
    /** What the gates have passed; absent when an older version has activated it. */
    gates?: Record<string, unknown>;
    /** Absent in a plan whose release is still to be made. */
    versions?: Record<string, string>;
    /** Absent likewise. */
    patched?: Patched;
}

/** How a service that is as declared stands. */
export const WANTED = { running: "running", process: "current", unit: "as written" } as const;

/** Fields of the process that are shown and compared as they are; each by its own name. */
const FIELDS = [
    "venv",
    "release",
    "env",
    "module",
    "model",
    "servedModelName",
    "port",
    "address",
    "extraArgs",
    "user",
    "group",
    "workingDirectory",
    "supervisor",
    "log",
    "stopTimeout",
    "keys",
] as const;

/** What differs between a service as it stands and as it is wanted. */
export function serviceChanges(state: SglangServiceState, wanted: SglangServiceWish): Change[] {
    const limits = textsOf(wanted.limits);
    return [
        ...moved(state, wanted, "name"),
        // A release or environment that is still to be made differs from nothing yet.
        ...FIELDS.filter((name) => !(wanted[name] === undefined && (name === "release" || name === "env"))).flatMap(
            (name) => field([name], state[name], wanted[name]),
        ),
        ...(["running", "process", "unit"] as const).flatMap((name) => field([name], state[name], wanted[name])),
        ...flagChanges(state.flags, wanted.flags),
        ...map("limits", state.limits, limits),
        ...gateChanges(state.gates, wanted),
    ];
}

/** What the gates are asked for, but for how long they may take. */
function asked({ gates: { timeout: _, ...gates } }: SglangServiceWish): Record<string, unknown> {
    return gates;
}

/** A question that the host does not know yet, and that asks for nothing, is none. */
function gateChanges(passed: Record<string, unknown> | undefined, wanted: SglangServiceWish): Change[] {
    return Object.entries(passed === undefined ? {} : asked(wanted))
        .filter(([name, value]) => !(passed?.[name] === undefined && same(value, [])))
        .flatMap(([name, value]) => field(["gates", name], passed?.[name], value));
}

/** The state of a service that is as declared. */
export function declaredState(
    wanted: SglangServiceWish,
    owner: string,
    machine: string,
    runs: Pick<SglangServiceState, "versions" | "patched">,
): SglangServiceState {
    const { root, name, flags, connection } = wanted;
    const process = Object.fromEntries(FIELDS.map((one) => [one, wanted[one]])) as Pick<
        SglangServiceWish,
        (typeof FIELDS)[number]
    >;
    const limits = textsOf(wanted.limits);
    const endpoint = endpointOf(connection, wanted);
    return {
        owner,
        machine,
        root,
        name,
        ...process,
        flags,
        limits,
        ...WANTED,
        gates: asked(wanted),
        endpoint,
        ...runs,
    };
}

/** Limits as the host keeps them: texts. */
function textsOf(limits: SglangServiceInputs["limits"]): Record<string, string> {
    return Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, String(value)]));
}

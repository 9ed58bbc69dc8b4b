import { Invalid } from "../invalid";
import { renderPath } from "../path";
import type { Change, Kept, Resource, Work } from "../resource";
import { flagProblems } from "./argv";
import { claim, field, idOf, moved, nameOf } from "./common";
import { keysId, saltFrom } from "./digests";
import { type SglangServiceInputs, sglangServiceInputs } from "./inputs";
import { flagChanges } from "./serviceFlags";
import { activationOf, endpointOf, specOf, supervisorOn, versionsOf } from "./serviceSpec";
import { type Launched, launched, liveService } from "./serviceState";

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
    /** Absent in a plan whose release is still to be made. */
    versions?: Record<string, string>;
}

const WANTED = { running: "running", process: "current", unit: "as written" } as const;

/** Fields whose change makes another process; each shows by its own name. */
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
    "running",
    "process",
    "unit",
] as const;

/** One SGLang server. The only resource that touches what runs; the host proves each change and goes back by itself. */
export const sglangService: Resource<SglangServiceInputs, SglangServiceWish, SglangServiceState> = {
    token: "sglang:index:SglangService",
    inputs: sglangServiceInputs,
    resolved: ["keys"],
    // Two processes cannot listen on one port.
    deleteBeforeReplace: true,
    id: ({ connection, name }) => idOf(connection, "service", name),

    async resolve(inputs, { prior, seed }) {
        Invalid.when(flagProblems(inputs));
        const salt = prior?.salt ?? saltFrom(seed, "keys");
        const { apiKey, adminApiKey } = inputs;
        return { ...inputs, ...WANTED, salt, keys: keysId(salt, { apiKey, adminApiKey }) };
    },

    read(facts, id, prior) {
        const name = prior?.inputs.name ?? nameOf(id);
        const live = facts.services[name];
        if (live === undefined || (prior !== undefined && live.owner !== prior.state.owner)) {
            return undefined;
        }
        const state = liveService(live, facts.machine, prior?.inputs);
        const connection = prior?.inputs.connection;
        return {
            owner: live.owner,
            machine: facts.machine.machineId,
            root: facts.root,
            name,
            ...state,
            // The host keeps the keys where only the server reads them.
            keys: prior?.state.keys ?? "",
            endpoint: connection === undefined ? "" : endpointOf(connection, state),
            versions: versionsOf(facts, state.venv, state.release),
        };
    },

    imported(facts, id, connection) {
        const live = facts.services[nameOf(id)];
        if (live?.current == null) {
            return undefined;
        }
        const { user, group, workingDirectory, log, ...state } = launched(live.current, undefined, facts.machine);
        const given = Object.fromEntries(
            Object.entries({ user, group, workingDirectory, log }).filter(([, value]) => value !== undefined),
        );
        return sglangServiceInputs.parse({ connection, root: facts.root, name: nameOf(id), ...state, ...given });
    },

    diff(state, wanted) {
        return [
            ...moved(state, wanted, "name"),
            ...FIELDS.flatMap((name) =>
                wanted[name] === undefined && (name === "release" || name === "env")
                    ? []
                    : field([name], state[name], wanted[name]),
            ),
            ...flagChanges(state.flags, wanted.flags),
            ...Object.keys({ ...state.limits, ...wanted.limits }).flatMap((name) =>
                field(["limits", name], state.limits[name], text(wanted.limits[name as keyof typeof wanted.limits])),
            ),
        ];
    },

    async plan(wanted, prior, work) {
        const facts = await work.host.look(wanted.root);
        if (prior !== undefined) {
            explainRestart(this.diff(prior, wanted), prior, wanted, work);
        }
        return stateOf(
            wanted,
            prior?.owner ?? "",
            facts.machine.machineId,
            versionsOf(facts, wanted.venv, wanted.release),
        );
    },

    async apply(wanted, _prior, work) {
        const { root, name } = wanted;
        const facts = await work.host.look(root);
        const spec = specOf(wanted, supervisorOn(facts.machine, wanted.supervisor));
        const args = { root, claim: claim("service", name, work), service: name, ...activationOf(wanted, spec, facts) };
        const done = await work.host.call<{ pid: number; readyAfter: number; restarted: boolean }>(
            "service.activate",
            args,
            work,
        );
        const state = stateOf(
            wanted,
            work.owner,
            facts.machine.machineId,
            versionsOf(facts, wanted.venv, wanted.release),
        );
        work.progress(
            done.restarted
                ? `serves at ${state.endpoint}, ready after ${Math.round(done.readyAfter)} s`
                : "runs as declared",
        );
        return { ...state, pid: done.pid };
    },

    async remove({ root, name }, _state, work) {
        await work.host.call("service.remove", { root, claim: claim("service", name, work) }, work);
    },
};

function stateOf(
    wanted: SglangServiceWish,
    owner: string,
    machine: string,
    versions: Record<string, string> | undefined,
): SglangServiceState {
    const {
        root,
        name,
        venv,
        release,
        env,
        module,
        model,
        servedModelName,
        port,
        address,
        flags,
        extraArgs,
        user,
        group,
        workingDirectory,
        supervisor,
        log,
        stopTimeout,
        keys,
    } = wanted;
    const limits = Object.fromEntries(Object.entries(wanted.limits).map(([limit, value]) => [limit, text(value)]));
    const process = {
        venv,
        release,
        env,
        module,
        model,
        servedModelName,
        port,
        address,
        flags,
        extraArgs,
        user,
        group,
        workingDirectory,
        limits,
        supervisor,
        log,
        stopTimeout,
    };
    return {
        owner,
        machine,
        root,
        name,
        ...process,
        ...WANTED,
        keys,
        endpoint: endpointOf(wanted.connection, wanted),
        versions,
    };
}

/** What a process need not be started anew for. */
const BESIDE_THE_PROCESS = ["unit", "stopTimeout"];

/** Each restart names its reasons; a change without one says that it is none. */
function explainRestart(changes: Change[], state: SglangServiceState, wanted: SglangServiceWish, work: Work): void {
    const reasons = (some: Change[]): string => some.map(({ path }) => reason(path, state, wanted)).join(", ");
    const restarting = changes.filter(({ path }) => !BESIDE_THE_PROCESS.includes(String(path[0])));
    if (restarting.length > 0) {
        work.info(`${state.pid === undefined ? "starts" : "restarts"}: ${reasons(restarting)}`);
    } else if (changes.length > 0) {
        work.info(`changed without a restart: ${reasons(changes)}`);
    }
}

/** `release a → b`; of keys only that they differ. */
function reason(path: (string | number)[], state: SglangServiceState, wanted: SglangServiceWish): string {
    const name = renderPath(path);
    if (name === "running" || name === "process" || name === "unit") {
        return String(state[name]);
    }
    const at = (value: unknown): string => {
        const found = path.reduce<unknown>(
            (inner, part) => (inner as Record<string, unknown> | undefined)?.[part],
            value,
        );
        return found === undefined ? "(default)" : Array.isArray(found) ? found.join(" ") : String(found);
    };
    return name === "keys" ? "the API keys changed" : `${name} ${at(state)} → ${at(wanted)}`;
}

function text(value: string | number | undefined): string | undefined {
    return value === undefined ? undefined : String(value);
}

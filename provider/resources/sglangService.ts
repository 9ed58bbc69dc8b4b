import type { HostFacts } from "../host/facts";
import { Invalid } from "../invalid";
import type { Resource } from "../resource";
import { flagProblems } from "./argv";
import { claim, idOf, nameOf } from "./common";
import { keysId, saltFrom } from "./digests";
import { type SglangServiceInputs, sglangServiceInputs } from "./inputs";
import { foreseenGates, lastFailure } from "./serviceGates";
import { patchedLive, patchedOf } from "./servicePatched";
import { foreseenPort, portHeld } from "./servicePort";
import { explainRestart } from "./serviceRestart";
import { silent } from "./serviceSilent";
import { activationOf, endpointOf, specOf, supervisorOn, versionsOf } from "./serviceSpec";
import { launched, liveService } from "./serviceState";
import { declaredState, type SglangServiceState, type SglangServiceWish, serviceChanges, WANTED } from "./serviceWish";

/** What the host answers once the service is as declared. `warnings`: of the gates, where they ran. */
interface Activated {
    pid: number;
    readyAfter: number;
    restarted: boolean;
    warnings?: string[];
}

/** One SGLang server. The only resource that touches what runs; the host proves each change and goes back by itself. */
export const sglangService: Resource<SglangServiceInputs, SglangServiceWish, SglangServiceState> = {
    token: "sglang:index:SglangService",
    inputs: sglangServiceInputs,
    resolved: ["keys"],
    // Two processes cannot listen on one port.
    deleteBeforeReplace: true,
    restless: ["pid", "running", "process", "versions", "patched"],
    exposed: ["module", "model", "servedModelName", "address", "flags", "extraArgs"],
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
        // Of one whose files are gone the host cannot tell the owner any more.
        const whose = live?.owner === "" ? prior?.state.owner : live?.owner;
        if (live === undefined || whose === undefined || (prior !== undefined && whose !== prior.state.owner)) {
            return undefined;
        }
        const state = liveService(live, facts.machine, prior?.inputs, facts.venvs);
        const connection = prior?.inputs.connection;
        return {
            owner: whose,
            machine: facts.machine.machineId,
            root: facts.root,
            name,
            ...state,
            // The host keeps the keys where only the server reads them.
            keys: prior?.state.keys ?? "",
            gates: live.current?.passed ?? undefined,
            endpoint: connection === undefined ? "" : endpointOf(connection, state),
            versions: versionsOf(facts, state.venv, state.release),
            // Of one that does not run the files are those of its release, and what becomes of these its venv tells.
            patched: live.process === null ? (prior?.state.patched ?? {}) : patchedLive(live.process.patched),
        };
    },

    remarks: (facts, id) => silent(facts.services[nameOf(id)], facts.machine.now),

    imported(facts, id, connection) {
        const live = facts.services[nameOf(id)];
        if (live?.current == null) {
            return undefined;
        }
        const { user, group, workingDirectory, log, ...state } = launched(live.current, undefined, facts.machine);
        const given = Object.fromEntries(
            Object.entries({ user, group, workingDirectory, log }).filter(([, value]) => value !== undefined),
        );
        const placed = { connection, root: facts.root, name: nameOf(id) };
        return { inputs: sglangServiceInputs.parse({ ...placed, ...state, ...given }) };
    },

    diff: serviceChanges,

    async plan(wanted, prior, work) {
        const facts = await work.host.look(wanted.root);
        const held = prior === undefined ? portHeld(facts, wanted.name, wanted.port) : undefined;
        if (held !== undefined) {
            throw new Error(`${wanted.connection.name}: ${held}`);
        }
        if (prior === undefined && supervisorOn(facts.machine, wanted.supervisor) === "process") {
            work.info("kept by a process of our own: started again when it fails, but not after a reboot");
        }
        if (prior !== undefined) {
            const told = explainRestart(work.changes, prior, wanted);
            if (told !== undefined) {
                work.info(told);
            }
        }
        const live = facts.services[wanted.name];
        const failed = live === undefined || work.changes.length === 0 ? undefined : lastFailure(live, wanted);
        if (failed !== undefined) {
            work.warn(failed);
        }
        const port =
            prior === undefined || work.changes.length > 0 ? await foreseenPort(wanted, facts, work) : undefined;
        if (port?.warning === true) {
            work.warn(port.text);
        } else if (port !== undefined) {
            work.info(port.text);
        }
        const foreseen =
            prior === undefined || work.changes.length > 0 ? await foreseenGates(wanted, facts, work) : undefined;
        if (foreseen !== undefined) {
            work.warn(foreseen);
        }
        return declaredState(wanted, prior?.owner ?? "", facts.machine.machineId, runs(facts, wanted));
    },

    async apply(wanted, _prior, work) {
        const { root, name } = wanted;
        const facts = await work.host.look(root);
        const spec = specOf(wanted, supervisorOn(facts.machine, wanted.supervisor));
        const args = { root, claim: claim("service", name, work), service: name, ...activationOf(wanted, spec, facts) };
        const done = await work.host.call<Activated>("service.activate", args, work);
        if (done.warnings !== undefined && done.warnings.length > 0) {
            work.warn(done.warnings.join("\n"));
        }
        const state = declaredState(wanted, work.owner, facts.machine.machineId, runs(facts, wanted));
        work.progress(
            done.restarted
                ? `serves at ${state.endpoint}, ready after ${done.readyAfter.toFixed(done.readyAfter < 10 ? 1 : 0)} s`
                : "runs as declared",
        );
        return { ...state, patched: state.patched ?? {}, pid: done.pid };
    },

    async remove({ root, name }, _state, work) {
        await work.host.call("service.remove", { root, claim: claim("service", name, work) }, work);
    },
};

/** What a process runs that is started from the wanted release; nothing of a release that is still to be made. */
function runs(
    facts: HostFacts,
    { venv, release }: SglangServiceInputs,
): Pick<SglangServiceState, "versions" | "patched"> {
    return { versions: versionsOf(facts, venv, release), patched: patchedOf(facts, venv, release) };
}

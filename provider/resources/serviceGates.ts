import { counted } from "../counted";
import { explain } from "../errors";
import type { HostFacts } from "../host/facts";
import { HostError } from "../host/host";
import type { RefusedFacts, ServiceFacts } from "../host/serviceFacts";
import type { Planning } from "../resource";
import { renderArgs } from "./argv";
import { claim } from "./common";
import { activationOf, specOf, supervisorOn } from "./serviceSpec";
import type { SglangServiceWish } from "./serviceWish";

/** What became of the last `up` that did not get as far as it should, in one line; undefined when it did. */
export function lastFailure({ activation, refused }: ServiceFacts, wanted: SglangServiceWish): string | undefined {
    if (refused !== null) {
        const { checked, gate, text, more } = refused;
        const first = `${text.split("\n")[0]}${more === 0 ? "" : ` (and ${counted(more, "more problem")})`}`;
        return `the last candidate (${candidateOf(refused, wanted)}, ${clock(checked)}) failed in gate ${gate}: ${first}`;
    }
    if (activation?.state === "rolled-back" || activation?.state === "failed") {
        const { started, stage, message } = activation;
        const why = message === null ? "" : `: ${message.split("\n")[0]}`;
        return `the last activation (${clock(started)}) failed in stage ${stage}${why}`;
    }
    return undefined;
}

/** Which candidate that was: what another one failed in says little of this one. */
function candidateOf({ release, args }: RefusedFacts, wanted: SglangServiceWish): string {
    if (release !== wanted.release) {
        return `release ${release}`;
    }
    const now = renderArgs(wanted);
    const same = args == null || now.every((word, at) => word === args[at]);
    return same ? "this release" : "this release, with other arguments than now";
}

/** `2026-11-30 21:05 UTC` */
function clock(seconds: number): string {
    return `${new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

interface Checked {
    gates?: { ok: boolean; warnings: string[] }[];
    table?: string[];
}

/**
 * The table of the gates that only read files, where the release and the variables are on the host already and something
 * is wrong: after an `up` that a gate stopped, or when the environment of the host changed. Undefined: nothing to say yet.
 */
export async function foreseenGates(
    wanted: SglangServiceWish,
    facts: HostFacts,
    work: Planning,
): Promise<string | undefined> {
    const { root, name, venv, release, env } = wanted;
    const there = facts.venvs[venv]?.releases[release]?.complete === true;
    if (!there || facts.envs[name]?.id !== env) {
        return undefined;
    }
    const spec = specOf(wanted, supervisorOn(facts.machine, wanted.supervisor));
    const args = { root, claim: claim("service", name, work), service: name, ...activationOf(wanted, spec, facts) };
    try {
        const { gates = [], table = [] } = await work.host.call<Checked>("service.check", args, work);
        const wrong = gates.some(({ ok, warnings }) => !ok || warnings.length > 0);
        return wrong
            ? ["what is known of its gates beforehand:", ...table.map((line) => `  ${line}`)].join("\n")
            : undefined;
    } catch (error) {
        if (error instanceof HostError && error.report.code !== "unreachable" && !work.signal.aborted) {
            return explain(error);
        }
        throw error;
    }
}

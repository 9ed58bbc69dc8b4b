import type { EnvFacts } from "../host/facts";
import type { Change, Kept, Resource } from "../resource";
import { byCause } from "../told";
import { claim, field, idOf, isClaimed, map, moved, nameOf } from "./common";
import { envId, saltFrom } from "./digests";
import { type EnvVarsInputs, envVarsInputs } from "./inputs";

export interface EnvVarsWish extends EnvVarsInputs {
    /** Keyed digest of the variables; what an SglangService takes as `env`. */
    digest: string;
    /** Key of the digest, hex; stays as long as the resource. */
    salt: string;
}

export interface EnvVarsState extends Kept {
    root: string;
    service: string;
    variables: Record<string, string>;
    digest: string;
}

/** Stands for the value of a variable that somebody else put there: it has no secret input that would hide it. */
const NOT_MANAGED = "(set, not managed)";

const WORDS: Partial<Record<Change["kind"], string>> = { add: "added", delete: "removed" };
/** What somebody did on the host is taken back: what is to be added was removed there. */
const ON_THE_HOST: Partial<Record<Change["kind"], string>> = { add: "removed", delete: "added" };

/** Environment of one service: here it is staged on the host; the service takes it when it is activated. */
export const envVars: Resource<EnvVarsInputs, EnvVarsWish, EnvVarsState> = {
    token: "sglang:index:EnvVars",
    inputs: envVarsInputs,
    resolved: ["digest"],
    id: ({ connection, service }) => idOf(connection, "env", service),

    async resolve(inputs, { prior, seed, facts }) {
        // What is staged there under another name of ours, or before a state was lost, is the same one by the same key: nobody restarts for it.
        const salt = prior?.salt ?? facts?.envs[inputs.service]?.salt ?? saltFrom(seed, "environment");
        return { ...inputs, salt, digest: envId(salt, inputs.variables) };
    },

    read(facts, id, prior) {
        const service = prior?.inputs.service ?? nameOf(id);
        const staged: EnvFacts | undefined = facts.envs[service];
        if (prior !== undefined && staged?.owner !== prior.state.owner) {
            const begun = isClaimed(facts, "env", service, prior.state.owner);
            return begun ? { ...prior.state, root: facts.root, service, variables: {}, digest: "" } : undefined;
        }
        if (staged === undefined) {
            return undefined;
        }
        const known = prior?.inputs.variables ?? staged.variables;
        const variables = Object.entries(staged.variables).map(([name, value]) => [
            name,
            Object.hasOwn(known, name) ? value : NOT_MANAGED,
        ]);
        return {
            owner: staged.owner,
            machine: facts.machine.machineId,
            root: facts.root,
            service,
            variables: Object.fromEntries(variables),
            digest: staged.id,
        };
    },

    imported(facts, id, connection) {
        const service = nameOf(id);
        const staged = facts.envs[service];
        const { variables = {} } = staged ?? {};
        // The host does not know which of them are secret.
        const secrets = Object.keys(variables).map((name) => ["variables", name]);
        const salt = staged?.salt ?? undefined;
        return staged && { inputs: { connection, root: facts.root, service, variables }, secrets, salt };
    },

    diff(state, wanted) {
        const variables = map("variables", state.variables, wanted.variables);
        return [
            ...moved(state, wanted, "service"),
            ...(variables.length > 0 ? variables : field(["digest"], state.digest, wanted.digest)),
        ];
    },

    async plan(wanted, prior, work) {
        const { machine } = await work.host.look(wanted.root);
        const variables = work.changes.filter(({ path }) => path[0] === "variables");
        if (variables.length > 0) {
            // Names only: the engine shows the values, and knows which of them are secret.
            work.info(
                byCause(
                    variables,
                    ({ path, kind, cause }) =>
                        `${path[1]} ${(cause === "host" ? ON_THE_HOST : WORDS)[kind] ?? "changed"}`,
                ),
            );
        }
        return stateOf(wanted, prior?.owner ?? "", machine.machineId);
    },

    async apply(wanted, _prior, work) {
        const { root, service, digest, variables } = wanted;
        const { machine } = await work.host.look(root);
        await work.host.call(
            "env.stage",
            { root, claim: claim("env", service, work), service, id: digest, variables, salt: wanted.salt },
            work,
        );
        return stateOf(wanted, work.owner, machine.machineId);
    },

    async remove({ root, service }, _state, work) {
        await work.host.call("env.remove", { root, claim: claim("env", service, work) }, work);
    },
};

function stateOf({ root, service, variables, digest }: EnvVarsWish, owner: string, machine: string): EnvVarsState {
    return { owner, machine, root, service, variables, digest };
}

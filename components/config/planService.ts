import type { HostedServiceArgs } from "../hostedService";
import type { FleetContext } from "./context";
import { hostPath, modelPath } from "./hostPaths";
import { mergeChecks, mergeServices } from "./merge";
import { planCommand } from "./planCommand";
import type { PlacementConfig, ServiceConfig } from "./service";
import type { VenvConfig } from "./venv";

/** What says how a service stands on one host. */
interface Said {
    placement: PlacementConfig;
    service: ServiceConfig;
    defaults: ServiceConfig | undefined;
    venvs: Record<string, VenvConfig>;
    /** Whether the host is the control machine itself. */
    local: boolean;
}

/** One service of one host, with the defaults and what the host says merged in. */
export function planService(
    { placement, service, defaults, venvs, local }: Said,
    context: FleetContext,
): HostedServiceArgs {
    const merged = mergeServices(defaults, service, placement);
    const { venv, model, port, env, checks, apiKey, adminApiKey, after, workingDirectory, log, ...process } = merged;
    const { accept: _, ...ofVenv } = venvs[venv as string]?.checks ?? {};
    const { assert, ...gates } = mergeChecks(ofVenv, checks);
    const place = (path: string) => hostPath(path, local, context.project);
    const key = (given: typeof apiKey) =>
        given === undefined || given === "generate" ? given : context.secret(given.secret);
    return {
        ...process,
        venv: venv as string,
        model: modelPath(model as string, local, context.project),
        port: port as number,
        env: variables(env, context),
        gates: { ...gates, ...(assert && { asserts: assert }) },
        after: after?.map((command) => planCommand(command, context)),
        apiKey: key(apiKey),
        adminApiKey: key(adminApiKey),
        ...(workingDirectory !== undefined && { workingDirectory: place(workingDirectory) }),
        ...(log !== undefined && { log: place(log) }),
    };
}

function variables(env: ServiceConfig["env"], context: FleetContext): HostedServiceArgs["env"] {
    const set = Object.entries(env ?? {}).flatMap(([name, value]) =>
        value === null ? [] : [[name, typeof value === "string" ? value : context.secret(value.secret)] as const],
    );
    return Object.fromEntries(set);
}

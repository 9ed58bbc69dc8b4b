import * as pulumi from "@pulumi/pulumi";
import { type ApiKey, apiKey } from "./apiKey";
import { type CommandArgs, commands } from "./command/command";
import type { PlacedArgs } from "./connection";
import { EnvVars } from "./envVars";
import type { HostedVenv } from "./hostedVenv";
import { SglangService, type SglangServiceArgs } from "./sglangService";

type Derived = "name" | "release" | "env" | "venv" | "apiKey" | "adminApiKey" | keyof PlacedArgs;

/** A service on a host. */
export interface HostedServiceArgs extends Omit<SglangServiceArgs, Derived> {
    /** The venv that it runs from; one of the host's. */
    venv: string;
    /** Variables; mark single values as secrets. `{site}` = site-packages of the release. Default: none. */
    env?: Record<string, pulumi.Input<string>>;
    /** GPUs that it sees, by number: CUDA_VISIBLE_DEVICES. [] = none. Default: all. */
    gpus?: number[];
    /** Key that clients must send: a text, or `generate`. Default: none. */
    apiKey?: ApiKey;
    /** Key for administrative routes: a text, or `generate`. Default: none. */
    adminApiKey?: ApiKey;
    /** Commands that run once a change of this service has succeeded, in order. Default: none. */
    after?: CommandArgs[];
}

/** The resources of one service on a host. */
export interface HostedService {
    env: EnvVars;
    service: SglangService;
    after: pulumi.Resource[];
    apiKey?: pulumi.Output<string>;
    adminApiKey?: pulumi.Output<string>;
}

/** Makes `<host>-<service>-env`, `<host>-<service>`, its keys if they are to be generated, and what comes after. */
export function hostedService(
    name: string,
    args: HostedServiceArgs,
    from: HostedVenv,
    at: PlacedArgs,
    opts: pulumi.CustomResourceOptions & { dependsOn: pulumi.Resource[] },
): HostedService {
    const prefix = `${at.connection.name}-${name}`;
    const { env: given = {}, gpus, after = [], apiKey: userKey, adminApiKey: adminKey, ...process } = args;
    const visible: Record<string, string> = gpus === undefined ? {} : { CUDA_VISIBLE_DEVICES: gpus.join(",") };
    const env = new EnvVars(`${prefix}-env`, { ...at, service: name, variables: { ...given, ...visible } }, opts);
    const keys = {
        apiKey: apiKey(`${prefix}-api-key`, userKey, opts),
        adminApiKey: apiKey(`${prefix}-admin-api-key`, adminKey, opts),
    };
    const { parent } = opts;
    const service = new SglangService(
        prefix,
        { ...at, ...process, ...keys, name, release: from.venv.release, env: env.digest },
        { parent },
    );
    const triggers = [from.venv.release, env.digest, pulumi.jsonStringify(argv(process))];
    return {
        env,
        service,
        after: commands(`${prefix}-after`, after, at.connection, triggers, { parent, dependsOn: [service] }),
        ...keys,
    };
}

/** What shapes the command line of the server, keys apart. */
function argv(process: Omit<SglangServiceArgs, Exclude<Derived, "venv">>) {
    const { module, model, servedModelName, address, port, flags, extraArgs } = process;
    return { module, model, servedModelName, address, port, flags, extraArgs };
}

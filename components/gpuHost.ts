import * as pulumi from "@pulumi/pulumi";
import type { Patched } from "../provider/resources/servicePatched";
import { type CommandArgs, commands } from "./command/command";
import type { ConnectionArgs, PlacedArgs } from "./connection";
import { type HostedService, type HostedServiceArgs, hostedService } from "./hostedService";
import { type HostedVenv, type HostedVenvArgs, hostedVenv } from "./hostedVenv";
import { lastKnown } from "./lastKnown";

/** One machine, what is kept on it and what it serves. */
export interface GpuHostArgs {
    /** How it is reached. Default: by the component's name, as ssh config says. */
    connection?: Omit<ConnectionArgs, "name">;
    /** Directory on the host below which everything of ours lies; absolute path. Default: /opt/sglang-fleet. */
    root?: pulumi.Input<string>;
    /** Whether what another stack has made there under the same names is taken over; it loses it. Default: false, it is refused. */
    takeOver?: pulumi.Input<boolean>;
    /** Commands that prepare the host, in order; everything on it waits for them. Default: none. */
    before?: CommandArgs[];
    /** Venvs by name. Default: none. */
    venvs?: Record<string, HostedVenvArgs>;
    /** Services by name. Default: none. */
    services?: Record<string, HostedServiceArgs>;
}

/** One machine that serves LLMs with SGLang: its venvs and services. The names of its children begin with its own. */
export class GpuHost extends pulumi.ComponentResource {
    /** Service => URL at which it answers. */
    readonly endpoints: pulumi.Output<Record<string, string>>;
    /** Service => release of its venv that it runs from. */
    readonly releases: pulumi.Output<Record<string, string>>;
    /** Service => package => version that it runs with. */
    readonly versions: pulumi.Output<Record<string, Record<string, string>>>;
    /** Service => patched module => its file, whether its content is the declared one, and whether the process is newer. */
    readonly patched: pulumi.Output<Record<string, Patched>>;
    /** Service => key that its clients must send, where there is one; secret. */
    readonly apiKeys: pulumi.Output<Record<string, string>>;
    /** The resources that stand in this component. */
    readonly children: pulumi.Resource[];

    constructor(name: string, args: GpuHostArgs, opts?: pulumi.ComponentResourceOptions) {
        super("sglang:index:GpuHost", name, {}, opts);
        const { root = "/opt/sglang-fleet", takeOver } = args;
        const at: PlacedArgs = { connection: { ...args.connection, name }, root, takeOver };
        const hosts = [opts?.dependsOn ?? []].flat() as pulumi.Resource[];
        const before = commands(`${name}-before`, args.before ?? [], at.connection, [], {
            parent: this,
            dependsOn: hosts,
        });
        const first = { parent: this, dependsOn: [...hosts, ...before] };
        const venvs = mapped(args.venvs ?? {}, (venv, key) => hostedVenv(key, venv, at, first));
        const services = mapped(args.services ?? {}, (service, key) =>
            hostedService(key, service, found(venvs, service.venv, key, this), at, first),
        );

        this.children = [
            ...before,
            ...Object.values(venvs).flatMap(ofVenv),
            ...Object.values(services).flatMap(ofService),
        ];
        this.endpoints = shown(mapped(services, ({ service }) => lastKnown(service, "endpoint", service.endpoint)));
        this.releases = shown(mapped(services, ({ service }) => lastKnown(service, "release", service.release)));
        this.versions = shown(mapped(services, ({ service }) => lastKnown(service, "versions", service.versions)));
        this.patched = shown(mapped(services, ({ service }) => lastKnown(service, "patched", service.patched)));
        this.apiKeys = pulumi.output(keysOf(services));
        const { endpoints, releases, versions, patched } = this;
        this.registerOutputs({ endpoints, releases, versions, patched });
    }
}

/** By service, without those that have nothing to show. */
function shown<T>(all: Record<string, pulumi.Output<T | undefined>>): pulumi.Output<Record<string, T>> {
    return pulumi
        .output(all)
        .apply((known) =>
            Object.fromEntries(
                Object.entries(known as Record<string, T | undefined>).filter(
                    (one): one is [string, T] => one[1] !== undefined,
                ),
            ),
        );
}

function found(venvs: Record<string, HostedVenv>, venv: string, service: string, host: GpuHost): HostedVenv {
    if (venvs[venv] === undefined) {
        throw new pulumi.ResourceError(
            `service \`${service}\` runs from venv \`${venv}\`, which this host does not have`,
            host,
            true,
        );
    }
    return venvs[venv];
}

function ofVenv({ overlay, patch, venv }: HostedVenv): pulumi.Resource[] {
    return [overlay, patch, venv].filter((part) => part !== undefined);
}

function ofService({ env, service, after }: HostedService): pulumi.Resource[] {
    return [env, service, ...after];
}

function keysOf(services: Record<string, HostedService>): Record<string, pulumi.Output<string>> {
    const keyed = Object.entries(services).flatMap(([name, { apiKey }]) =>
        apiKey === undefined ? [] : [[name, apiKey] as const],
    );
    return Object.fromEntries(keyed);
}

function mapped<From, To>(record: Record<string, From>, to: (value: From, key: string) => To): Record<string, To> {
    return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, to(value, key)]));
}

import * as pulumi from "@pulumi/pulumi";
import type { Patched } from "../provider/resources/servicePatched";
import { GpuHost, type GpuHostArgs } from "./gpuHost";
import { type Unreached, unreached } from "./unreached";
import { type Rollout, waves } from "./waves";

/** Hosts and the order in which they are changed. */
export interface FleetArgs {
    /** Hosts by name; the name is part of resource names, so it should stay. */
    hosts: Record<string, GpuHostArgs>;
    /** Default: all side by side. */
    rollout?: Rollout;
}

/** What each host of a fleet shows, by its name. */
export type ByHost<T> = Record<string, T>;

/** Machines that are changed side by side, or in waves. */
export class Fleet extends pulumi.ComponentResource {
    /** Host => service => URL. */
    readonly endpoints: pulumi.Output<ByHost<Record<string, string>>>;
    /** Host => service => release. */
    readonly releases: pulumi.Output<ByHost<Record<string, string>>>;
    /** Host => service => package => version. */
    readonly versions: pulumi.Output<ByHost<Record<string, Record<string, string>>>>;
    /** Host => service => patched module => its file, whether its content is the declared one, and whether the process is newer. */
    readonly patched: pulumi.Output<ByHost<Record<string, Patched>>>;
    /** Host => service => key, where there is one; secret. */
    readonly apiKeys: pulumi.Output<ByHost<Record<string, string>>>;
    /** Hosts that could not be looked at; each has been logged as an error on its component. */
    readonly unreached: pulumi.Output<Unreached[]>;
    /** The hosts by name. */
    readonly hosts: ByHost<GpuHost>;

    constructor(name: string, args: FleetArgs, opts?: pulumi.ComponentResourceOptions) {
        super("sglang:index:Fleet", name, {}, opts);
        this.hosts = {};
        let before: GpuHost[] = [];
        for (const wave of waves(Object.keys(args.hosts), args.rollout)) {
            const dependsOn = before;
            before = wave.map((host) => {
                this.hosts[host] = new GpuHost(host, args.hosts[host], { parent: this, dependsOn });
                return this.hosts[host];
            });
        }
        this.endpoints = this.gathered((host) => host.endpoints);
        this.releases = this.gathered((host) => host.releases);
        this.versions = this.gathered((host) => host.versions);
        this.patched = this.gathered((host) => host.patched);
        this.apiKeys = this.gathered((host) => host.apiKeys).apply(withSome);
        this.unreached = unreached(Object.values(this.hosts).flatMap((host) => host.children)).apply((missed) => {
            for (const { host, message } of missed) {
                pulumi.log.error(message, this.hosts[host] ?? this);
            }
            return missed;
        });
        const { endpoints, releases, versions, patched } = this;
        this.registerOutputs({ endpoints, releases, versions, patched });
    }

    private gathered<T>(of: (host: GpuHost) => pulumi.Output<T>): pulumi.Output<ByHost<T>> {
        const values = Object.fromEntries(Object.entries(this.hosts).map(([name, host]) => [name, of(host)]));
        return pulumi.output(values) as pulumi.Output<ByHost<T>>;
    }
}

/** Without the hosts that have none. */
function withSome<T extends object>(all: ByHost<T>): ByHost<T> {
    return Object.fromEntries(Object.entries(all).filter(([, some]) => Object.keys(some).length > 0));
}

import { resolve } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import type { ConnectionArgs } from "../connection";
import type { FleetArgs } from "../fleet";
import type { GpuHostArgs } from "../gpuHost";
import type { HostedVenvArgs } from "../hostedVenv";
import type { ConnectionConfig } from "./connection";
import type { FleetContext } from "./context";
import type { FleetConfig, HostConfig } from "./fleet";
import { hostPath } from "./hostPaths";
import { mergeConnections } from "./merge";
import { planCommand } from "./planCommand";
import { planService } from "./planService";
import type { PlacementConfig } from "./service";
import type { VenvConfig } from "./venv";

/** From a config without errors to what `Fleet` takes. Total: what can be wrong was found before. */
export function plan(config: FleetConfig, context: FleetContext): FleetArgs {
    const hosts = Object.entries(config.hosts).map(([name, host]) => [name, planHost(host, config, context)]);
    return { hosts: Object.fromEntries(hosts), rollout: config.rollout };
}

function planHost(host: HostConfig, config: FleetConfig, context: FleetContext): GpuHostArgs {
    const { defaults = {}, services = {}, venvs = {} } = config;
    const connection = mergeConnections(defaults.connection, host.connection);
    const local = connection.type === "local";
    const donor = (name: string): ConnectionArgs => ({
        ...planConnection(mergeConnections(defaults.connection, config.hosts[name].connection), context),
        name,
    });
    const placements = (host.services ?? []).map(
        (entry): PlacementConfig => (typeof entry === "string" ? { service: entry } : entry),
    );
    const planned = placements.map((placement) => {
        const args = planService(
            { placement, service: services[placement.service], defaults: defaults.service, venvs, local },
            context,
        );
        return [placement.as ?? placement.service, args] as const;
    });
    const wanted = new Set([...(host.venvs ?? []), ...planned.map(([, args]) => args.venv)]);
    return {
        connection: planConnection(connection, context),
        root: hostPath(host.root ?? defaults.root ?? "/opt/sglang-fleet", local, context.project),
        ...(host.takeOver !== undefined && { takeOver: host.takeOver }),
        before: (host.before ?? defaults.before ?? []).map((command) => planCommand(command, context)),
        venvs: Object.fromEntries(
            [...wanted].map((name) => [name, planVenv(venvs[name], defaults.keep, { local, donor }, context)]),
        ),
        services: Object.fromEntries(planned),
    };
}

function planConnection(config: ConnectionConfig, context: FleetContext): Omit<ConnectionArgs, "name"> {
    const { password, becomePassword, ...rest } = config;
    return {
        ...rest,
        ...(password && { password: context.secret(password.secret) }),
        ...(becomePassword && { becomePassword: context.secret(becomePassword.secret) }),
    };
}

/** What a venv's plan needs to know of its host, and of the others. */
interface Surroundings {
    local: boolean;
    /** How the host of a donor is reached. */
    donor: (name: string) => ConnectionArgs;
}

function planVenv(
    config: VenvConfig,
    keep: number | undefined,
    { local, donor }: Surroundings,
    context: FleetContext,
): HostedVenvArgs {
    const file = (path: string) => new pulumi.asset.FileAsset(resolve(context.project, path));
    const { adopt, python, requirements, ...more } = config.base;
    const overlays = config.overlays?.map(({ packages, from }) => {
        const {
            wheel,
            directory,
            version,
            index,
            indexUrl,
            extraIndexUrl,
            findLinks,
            venv,
            host,
            pin,
            direct,
            archive,
            sha256,
        } = from;
        if (wheel !== undefined) {
            return { packages, from: { wheel: file(wheel) } };
        }
        if (venv !== undefined) {
            const connection = host === undefined ? undefined : donor(host);
            const onControl = connection === undefined ? local : connection.type === "local";
            const path = hostPath(venv, onControl, context.project);
            const more = { ...(connection && { connection }), ...(pin && { pin }), ...(direct && { direct }) };
            return { packages, from: { venv: path, ...more } };
        }
        if (archive !== undefined) {
            return { packages, from: { archive, ...(sha256 && { sha256 }), ...(version && { version }) } };
        }
        const pinned = index === undefined ? undefined : { index, indexUrl, extraIndexUrl, findLinks };
        return { packages, from: pinned ?? { directory: directory as string, version } };
    });
    const patches = config.patches?.map(({ file: whole, diff, ...target }) => ({
        ...target,
        ...(whole !== undefined && { file: file(whole) }),
        ...(diff !== undefined && { diff: file(diff) }),
    }));
    return {
        base:
            adopt === undefined
                ? { ...more, python: python as string, requirements: file(requirements as string) }
                : { adopt: hostPath(adopt, local, context.project) },
        overlays,
        patches,
        accept: config.checks?.accept,
        keep: config.keep ?? keep,
    };
}

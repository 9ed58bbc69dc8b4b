import * as pulumi from "@pulumi/pulumi";
import { type FleetPlan, parseFleet } from "../../components/config";
import { context } from "./context";

/** A plan with its assets as paths, and without what is undefined: as one would write it. */
export function plain({ args, warnings }: FleetPlan): unknown {
    const asset = (value: unknown) => pulumi.asset.FileAsset.isInstance(value);
    return JSON.parse(JSON.stringify({ args, warnings }, (_, value) => (asset(value) ? "asset" : value)));
}

/** The hosts of a config's plan, in the same form. */
export function hosts(raw: unknown): Record<string, Record<string, unknown>> {
    return (plain(parseFleet(raw, context)) as { args: { hosts: Record<string, Record<string, unknown>> } }).args.hosts;
}

import * as pulumi from "@pulumi/pulumi";
import { endWithEngine } from "./components/engineGone";
import { Fleet } from "./components/fleet";
import { readFleet } from "./components/stack";

endWithEngine();
const { args, warnings } = readFleet();
const fleet = new Fleet("fleet", args);

for (const { host, message } of warnings) {
    pulumi.log.warn(message, fleet.hosts[host]);
}

// 32: the program has said already what is wrong. A host out of reach must not look like success, and must not keep the
// others from being shown or changed, which an exception would do.
fleet.unreached.apply((missed) => {
    process.exitCode = missed.length > 0 ? 32 : process.exitCode;
});

export const endpoints = fleet.endpoints;
export const releases = fleet.releases;
export const versions = fleet.versions;
export const patched = fleet.patched;
export const apiKeys = fleet.apiKeys;

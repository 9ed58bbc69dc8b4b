/** What a program composes: the components, the resources that they are made of, and the schema of the stack's config. */
export type { ApiKey } from "./apiKey";
export type { CommandArgs } from "./command/command";
export { ConfigError, type FleetContext, type FleetPlan, parseFleet } from "./config";
export type { ConnectionArgs, PlacedArgs } from "./connection";
export { EnvVars, type EnvVarsArgs } from "./envVars";
export { Fleet, type FleetArgs } from "./fleet";
export { GpuHost, type GpuHostArgs } from "./gpuHost";
export type { HostedServiceArgs } from "./hostedService";
export type { HostedVenvArgs } from "./hostedVenv";
export { PackageOverlay, type PackageOverlayArgs } from "./packageOverlay";
export { SglangService, type SglangServiceArgs } from "./sglangService";
export { SourcePatch, type SourcePatchArgs } from "./sourcePatch";
export { readFleet } from "./stack";
export type { Unreached } from "./unreached";
export { Venv, type VenvArgs } from "./venv";
export type { Rollout } from "./waves";

/** What the resources take; components build on these shapes. */
export { Asset } from "./asset";
export { type EnvVarsInputs, envVarsInputs } from "./envVars";
export { type Overlay, type PackageOverlayInputs, packageOverlayInputs } from "./packageOverlay";
export { type FlagValue, type SglangServiceInputs, sglangServiceInputs } from "./sglangService";
export { type Patch, type SourcePatchInputs, sourcePatchInputs } from "./sourcePatch";
export { type Base, type VenvInputs, venvInputs } from "./venv";

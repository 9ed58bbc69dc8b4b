/** What the resources take; components build on these shapes. */
export { Asset } from "./asset";
export { envVarsInputs, type EnvVarsInputs } from "./envVars";
export { packageOverlayInputs, type Overlay, type PackageOverlayInputs } from "./packageOverlay";
export { sglangServiceInputs, type FlagValue, type SglangServiceInputs } from "./sglangService";
export { sourcePatchInputs, type Patch, type SourcePatchInputs } from "./sourcePatch";
export { venvInputs, type Base, type VenvInputs } from "./venv";

export { killControl, oldOrNew, type Stand, settled } from "./cut";
export { donateOn } from "./donated";
export { describeHosts, type HostWishes, MODEL, PORT, ROOT, reached } from "./fleet";
export { Killed } from "./killed";
export * from "./onHost";
export { realVenv } from "./realVenv";
export { slow, slowReloads } from "./slow";
export { HostStand } from "./stand";
export { type Exchange, exchanged, tap, tappedPython } from "./tapped";

import { renderPath } from "../path";
import type { Caused } from "../resource";
import { fromTo, linesByCause } from "../told";
import { notAsPatched } from "./servicePatched";
import type { SglangServiceState, SglangServiceWish } from "./serviceWish";

/** What a process need not be started anew for. */
const BESIDE_THE_PROCESS = ["unit", "stopTimeout", "gates"];

/** Fields that say in words what is the case, and that want one thing always. */
const CONDITIONS = ["running", "process", "unit"] as const;

/** Each restart names its reasons, and who gave them; a change without one says that it is none. */
export function explainRestart(
    changes: Caused[],
    state: SglangServiceState,
    wanted: SglangServiceWish,
): string | undefined {
    if (changes.length === 0) {
        return undefined;
    }
    const restarting = changes.filter(({ path }) => !BESIDE_THE_PROCESS.includes(String(path[0])));
    const how = restarting.length === 0 ? "changed without a restart" : state.pid === undefined ? "starts" : "restarts";
    const telling = restarting.length === 0 ? changes : restarting;
    const files = telling.some(({ path }) => path[0] === "process") ? notAsPatched(state.patched) : [];
    return [
        `${how}: ${telling.map(({ path }) => renderPath(path)).join(", ")}`,
        ...[...linesByCause(telling, ({ path }) => reason(path, state, wanted)), ...files].map((line) => `  ${line}`),
    ].join("\n");
}

/** `release a → b`; of keys only that they differ. */
function reason(path: (string | number)[], state: SglangServiceState, wanted: SglangServiceWish): string {
    const name = renderPath(path);
    const condition = CONDITIONS.find((one) => one === name);
    if (condition !== undefined) {
        return state[condition];
    }
    const at = (value: unknown): unknown =>
        path.reduce<unknown>((inner, part) => (inner as Record<string, unknown> | undefined)?.[part], value);
    return name === "keys" ? "the API keys changed" : `${name} ${fromTo(at(state), at(wanted), "(default)")}`;
}

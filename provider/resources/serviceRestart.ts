import { renderPath } from "../path";
import type { Change } from "../resource";
import type { SglangServiceState, SglangServiceWish } from "./serviceWish";

/** What a process need not be started anew for. */
const BESIDE_THE_PROCESS = ["unit", "stopTimeout"];

/** Each restart names its reasons; a change without one says that it is none. */
export function explainRestart(
    changes: Change[],
    state: SglangServiceState,
    wanted: SglangServiceWish,
): string | undefined {
    const reasons = (some: Change[]): string => some.map(({ path }) => reason(path, state, wanted)).join(", ");
    const restarting = changes.filter(({ path }) => !BESIDE_THE_PROCESS.includes(String(path[0])));
    if (restarting.length > 0) {
        return `${state.pid === undefined ? "starts" : "restarts"}: ${reasons(restarting)}`;
    }
    return changes.length > 0 ? `changed without a restart: ${reasons(changes)}` : undefined;
}

/** `release a → b`; of keys only that they differ. */
function reason(path: (string | number)[], state: SglangServiceState, wanted: SglangServiceWish): string {
    const name = renderPath(path);
    if (name === "running" || name === "process" || name === "unit") {
        return String(state[name]);
    }
    const at = (value: unknown): string => {
        const found = path.reduce<unknown>(
            (inner, part) => (inner as Record<string, unknown> | undefined)?.[part],
            value,
        );
        return found === undefined ? "(default)" : Array.isArray(found) ? found.join(" ") : String(found);
    };
    return name === "keys" ? "the API keys changed" : `${name} ${at(state)} → ${at(wanted)}`;
}

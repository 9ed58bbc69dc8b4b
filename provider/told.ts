import { counted } from "./counted";
import type { Caused } from "./resource";

const MOST_LINES = 80;
const WORDS: [Caused["cause"], string][] = [
    ["config", "config"],
    ["host", "on the host"],
    ["both", "config and the host"],
    ["donor", "on the donor"],
];

/** Lines of differences that one message shows: `SGLANG_FLEET_DIFF_LINES`, a number or `all`. Default: 80. */
export function mostLines(given = process.env.SGLANG_FLEET_DIFF_LINES): number {
    return given === "all" ? Number.MAX_SAFE_INTEGER : /^\d+$/.test(given ?? "") ? Number(given) : MOST_LINES;
}

/** The first lines, and how many are left out with the way to see them. `beyond`: more that was left out before. */
export function cut(lines: string[], most: number, beyond = 0): string[] {
    const left = Math.max(0, lines.length - most) + beyond;
    const shown = lines.slice(0, most);
    return left === 0
        ? shown
        : [
              ...shown,
              `… ${counted(left, "more line")}; SGLANG_FLEET_DIFF_LINES=all shows ${left === 1 ? "it" : "them"}`,
          ];
}

/** Differences by who made them, in words: `config: a, b; on the host: c`. */
export function byCause(changes: Caused[], describe: (change: Caused) => string): string {
    return WORDS.map(([cause, word]) => [word, changes.filter((change) => change.cause === cause)] as const)
        .filter(([, some]) => some.length > 0)
        .map(([word, some]) => `${word}: ${some.map(describe).join(", ")}`)
        .join("; ");
}

/** The same, a line each: who made it, and what it is. */
export function linesByCause(changes: Caused[], describe: (change: Caused) => string): string[] {
    return WORDS.flatMap(([cause, word]) =>
        changes.filter((change) => change.cause === cause).map((change) => `${word}: ${describe(change)}`),
    );
}

/** `old → new`, and what stands for either side being absent. */
export function fromTo(before: unknown, after: unknown, absent = "(none)"): string {
    return `${shown(before, absent)} → ${shown(after, absent)}`;
}

function shown(value: unknown, absent: string): string {
    const text = Array.isArray(value) ? value.join(" ") : String(value ?? "");
    return text === "" ? absent : text;
}

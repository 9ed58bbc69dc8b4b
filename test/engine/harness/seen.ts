import { expectExit, type Outcome } from "./command";
import { nameOf } from "./plan";

/** Row => path => [what is there, what is wanted]. */
export type Seen = Record<string, Record<string, [unknown, unknown]>>;

interface Step {
    op: string;
    urn: string;
    detailedDiff?: Record<string, unknown> | null;
    oldState?: { outputs?: unknown };
    newState?: { outputs?: unknown; inputs?: unknown };
}

/** What `preview --json` shows: each differing path with what is there, and what is wanted. */
export function previewed(outcome: Outcome): Seen {
    const { steps = [] } = JSON.parse(expectExit(outcome).stdout) as { steps?: Step[] };
    const rows = steps
        // The look itself is a step that `--json` lists.
        .filter(({ op }) => op !== "same" && op !== "refresh")
        .map(({ op, urn, detailedDiff, oldState, newState }) => [
            nameOf(urn),
            op === "update"
                ? Object.fromEntries(
                      Object.keys(detailedDiff ?? {}).map((path) => [
                          path,
                          [at(oldState?.outputs, path), at(newState?.outputs, path) ?? at(newState?.inputs, path)],
                      ]),
                  )
                : { op: [op, op] },
        ]);
    return Object.fromEntries(rows);
}

/** The value at a path as the engine writes it: `files["sglang/srt/x.py"]`; null when there is none. */
function at(value: unknown, path: string): unknown {
    const parts = [...path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g)].map(
        ([, quoted, index, plain]) => quoted ?? index ?? plain,
    );
    return (
        parts.reduce<unknown>(
            (inner, part) => (inner as Record<string, unknown> | undefined)?.[part as string],
            value,
        ) ?? null
    );
}

/** What is there, without what is wanted instead. */
export function live(seen: Seen): Record<string, Record<string, unknown>> {
    const rows = Object.entries(seen).map(([row, paths]) => [
        row,
        Object.fromEntries(Object.entries(paths).map(([path, [there]]) => [path, there])),
    ]);
    return Object.fromEntries(rows);
}

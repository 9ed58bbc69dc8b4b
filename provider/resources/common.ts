import { same } from "../canonical";
import type { Connection } from "../connection";
import type { HostFacts } from "../host/facts";
import type { Change, Placed, Work } from "../resource";

export type Kind = "overlay" | "patch" | "venv" | "env" | "service";

/** `<host>/<kind>/<name>`. */
export function idOf(connection: Connection, kind: Kind, name: string): string {
    return `${connection.name}/${kind}/${name}`;
}

/** The last part of an id. */
export function nameOf(id: string): string {
    return id.split("/").slice(2).join("/");
}

/** The claim that goes with each request that changes something. */
export function claim(
    kind: Kind,
    name: string,
    { owner, urn, takeOver }: Pick<Work, "owner" | "urn" | "takeOver">,
): { kind: Kind; name: string; owner: string; urn: string; takeOver?: true } {
    return { kind, name, owner, urn, ...(takeOver && { takeOver }) };
}

/**
 * Whether an owner has claimed something of which nothing is there: its first making failed in the middle. It counts as
 * there, so that what the attempt left is removed with it.
 */
export function isClaimed(facts: HostFacts, kind: Kind, name: string, owner: string | undefined): boolean {
    return owner !== undefined && facts.claims[`${kind}/${name}`]?.owner === owner;
}

/** What makes it another thing: where it is and what it is called. */
export function moved<N extends string>(
    state: { root: string } & Record<N, string>,
    wanted: Placed & Record<N, string>,
    name: N,
): Change[] {
    return (
        [
            ["root", state.root, wanted.root],
            [name, state[name], wanted[name]],
        ] as const
    )
        .filter(([, before, after]) => before !== after)
        .map(([path]) => ({ path: [path], kind: "update-replace" }));
}

/** One field: what is there and what is wanted. A wish that is not known yet differs from nothing. */
export function field(path: (string | number)[], before: unknown, after: unknown): Change[] {
    if (same(before, after)) {
        return [];
    }
    const kind =
        before === undefined || before === null ? "add" : after === undefined || after === null ? "delete" : "update";
    return [{ path, kind }];
}

/** Two maps, name by name, in the order of their names. */
export function map(path: string, before: Record<string, unknown>, after: Record<string, unknown>): Change[] {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return names.flatMap((name) => field([path, name], before[name], after[name]));
}

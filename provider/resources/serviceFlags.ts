import type { Change } from "../resource";
import { type Flags, flagName, parseArgs, renderFlags } from "./argv";
import { field } from "./common";
import type { FlagValue } from "./inputs";

/** What differs in effect: a flag that is spelt otherwise, or is false and absent, is the same. */
export function flagChanges(live: Flags, wanted: Flags): Change[] {
    const before = byName(live);
    const after = byName(wanted);
    const names = [...new Set([...before.keys(), ...after.keys()])].sort();
    return names.flatMap((name) => {
        const [was, is] = [before.get(name), after.get(name)];
        return field(["flags", is?.key ?? was?.key ?? name], was?.effect, is?.effect);
    });
}

/** The flags of a running process in the spelling and types of the declaration, so that only what differs looks different. */
export function asDeclared(live: Flags, declared: Flags): Flags {
    const known = byName(declared);
    const shown = Object.entries(live).map(([name, value]): [string, FlagValue] => {
        const wish = known.get(name);
        if (wish === undefined) {
            return [name, value];
        }
        const given = declared[wish.key];
        if (same(renderFlags({ [name]: value }), renderFlags({ [name]: given }))) {
            return [wish.key, given];
        }
        const numeric =
            typeof given === "number" && typeof value === "string" && value !== "" && Number.isFinite(Number(value));
        return [wish.key, numeric ? Number(value) : value];
    });
    // What is declared as off and is absent is as declared.
    const off = [...known.values()].filter(
        ({ effect, key }) => effect === undefined && !shown.some(([name]) => name === key),
    );
    return Object.fromEntries([...shown, ...off.map(({ key }): [string, FlagValue] => [key, declared[key]])]);
}

function byName(flags: Flags): Map<string, { key: string; effect: unknown }> {
    return new Map(
        Object.entries(flags).map(([key, value]) => [
            flagName(key),
            { key, effect: Object.values(parseArgs(renderFlags({ [key]: value })).flags)[0] },
        ]),
    );
}

function same(a: string[], b: string[]): boolean {
    return a.length === b.length && a.every((word, at) => word === b[at]);
}

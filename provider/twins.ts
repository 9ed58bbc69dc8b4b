import type { HostFacts } from "./host/facts";
import { HostError } from "./host/host";

/** One machine and root, and the names that it was seen under, in order, each with how messages call it. */
interface Place {
    facts: HostFacts;
    labels: Map<string, string>;
}

/** Which names mean the same machine and root: each would take the other's things for its own. */
export class Twins {
    private readonly places = new Map<string, Place>();

    /** What a look saw under a name. */
    note(name: string, label: string, facts: HostFacts): void {
        const place = this.places.get(key(facts)) ?? { facts, labels: new Map() };
        place.labels.set(name, label);
        this.places.set(key(facts), place);
    }

    /** What is to be said of each name but a place's first. A name that `left` the program is none: another one took its place. */
    errors(left: (name: string) => boolean): [string, HostError][] {
        return [...this.places.values()].flatMap(({ facts, labels }) => {
            const [first, ...others] = [...labels.keys()].filter((name) => !left(name));
            return others.map((name): [string, HostError] => [
                name,
                new HostError(labels.get(name) ?? name, {
                    code: "same-machine",
                    message: `is the same machine and root as ${first}`,
                    where: facts.root,
                    found: `machine id ${facts.machine.machineId} (${facts.machine.hostname})`,
                    expected: "a machine stands in a stack once, or with another root",
                    remedy: "correct the address of one of them, take one out of the config, or give it another `root`",
                }),
            ]);
        });
    }
}

/** Whether two looks saw the same machine and root. */
export function alike(one: HostFacts, other: HostFacts): boolean {
    return key(one) === key(other);
}

function key({ machine: { machineId, hostKey, bootId }, root, place }: HostFacts): string {
    return JSON.stringify([machineId, hostKey, bootId, root, place]);
}

import type { Properties } from "./wire";

/** The newest state of each resource that this process knows, for a program that the engine has told nothing after a failure. */
export class LastSeen {
    private readonly states = new Map<string, Properties>();

    /** Notes a state; an empty one says that the resource is not there. */
    note(urn: string, state: Properties): void {
        this.states.set(urn, state);
    }

    /** One output of a resource, undefined where none is known. */
    value(urn: string, name: string): unknown {
        return this.states.get(urn)?.[name];
    }
}

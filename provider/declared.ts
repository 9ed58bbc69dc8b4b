import type { Placed } from "./resource";

/** A resource of the program, and where it stands. */
interface Wanted extends Pick<Placed, "connection" | "root"> {
    urn: string;
}

/** What this run of a stack knows of its own resources: those of its state, and those of its program. */
export class Declared {
    private readonly owners = new Map<string, string>();
    private readonly checked = new Set<string>();
    private readonly places = new Map<string, Wanted>();
    /** Names of the hosts of the state, and of those of the program. */
    private readonly keptHosts = new Set<string>();
    private readonly wantedHosts = new Set<string>();

    /** A resource of the state, with its host's name and its owner's id. */
    kept(urn: string, host: string, owner: unknown): void {
        this.keptHosts.add(host);
        if (typeof owner === "string") {
            this.owners.set(owner, urn);
        }
    }

    /** A resource of the program. */
    wanted(urn: string): void {
        this.checked.add(urn);
    }

    /** What a resource of the program is on its host: `<host>/<kind>/<name>`; and where that is. */
    placed(urn: string, id: string, { connection, root }: Placed): void {
        this.places.set(id, { urn, connection, root });
        this.wantedHosts.add(id.split("/")[0] ?? id);
    }

    /** Other resources of the program that are to be what `id` is, on the same host or on another one: that may be the same under a new name. */
    alike(urn: string, id: string): Wanted[] {
        const thing = withoutHost(id);
        return [...this.places]
            .filter(([at, other]) => withoutHost(at) === thing && other.urn !== urn)
            .map(([, other]) => other);
    }

    /** Where a resource of the program is, and what it is there, as far as that is known. */
    placeOf(urn: string): (Wanted & { thing: string }) | undefined {
        const found = [...this.places].find(([, place]) => place.urn === urn);
        return found && { ...found[1], thing: withoutHost(found[0]) };
    }

    /** Whether a host of the state left the program: it is renamed, or taken out. */
    hostLeft(name: string): boolean {
        return this.keptHosts.has(name) && !this.wantedHosts.has(name);
    }

    /** Whether an owner's id is that of this very resource, which is being replaced. */
    isOf(urn: string, owner: string): boolean {
        return this.owners.get(owner) === urn;
    }

    /** Whether an owner's id is that of a resource of this stack which left the program: it is renamed, or moved. */
    left(owner: string): boolean {
        const urn = this.owners.get(owner);
        return urn !== undefined && !this.checked.has(urn);
    }
}

function withoutHost(id: string): string {
    return id.split("/").slice(1).join("/");
}

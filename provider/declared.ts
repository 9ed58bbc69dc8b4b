/** What this run of a stack knows of its own resources: those of its state, and those of its program. */
export class Declared {
    private readonly owners = new Map<string, string>();
    private readonly checked = new Set<string>();
    private readonly places = new Map<string, string>();
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

    /** What a resource of the program is on its host: `<host>/<kind>/<name>`. */
    placed(urn: string, id: string): void {
        this.places.set(id, urn);
        this.wantedHosts.add(id.split("/")[0] ?? id);
    }

    /** Another resource of the program that is to be the same thing under a new name; `ids`: what it is, by each name of its host. */
    heir(urn: string, ids: string[]): string | undefined {
        return ids.map((id) => this.places.get(id)).find((found) => found !== undefined && found !== urn);
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

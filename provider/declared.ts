/** What this run of a stack knows of its own resources: those of its state, and those of its program. */
export class Declared {
    private readonly owners = new Map<string, string>();
    private readonly checked = new Set<string>();
    private readonly places = new Map<string, string>();

    /** A resource of the state, with its owner's id. */
    kept(urn: string, owner: unknown): void {
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
    }

    /** Another resource of the program that is to be the same thing on the same host, under a new name. */
    heir(urn: string, id: string): string | undefined {
        const found = this.places.get(id);
        return found === urn ? undefined : found;
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

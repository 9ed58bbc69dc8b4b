/** What this run of a stack knows of its own resources: those of its state, and those of its program. */
export class Declared {
    private readonly owners = new Map<string, string>();
    private readonly checked = new Set<string>();

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

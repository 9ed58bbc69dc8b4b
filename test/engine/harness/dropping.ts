import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Workspace } from "./workspace";

/** A Python for the `python` of a local host's connection, by which the answer to an operation can be lost once its work is done. */
export class Dropping {
    readonly python: string;
    private readonly order: string;

    constructor(workspace: Workspace) {
        this.python = join(workspace.folder, "dropping-python3");
        this.order = join(workspace.folder, "drop");
        const source = readFileSync(join(__dirname, "dropping.py"), "utf8");
        writeFileSync(this.python, `#!/usr/bin/env python3\n${source}`, { mode: 0o755 });
    }

    /** Loses the next answer to this operation. */
    drop(operation: string): void {
        writeFileSync(this.order, operation);
    }

    /** Whether it has been lost. */
    get done(): boolean {
        return !existsSync(this.order);
    }
}

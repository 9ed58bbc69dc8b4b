import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { controlName } from "../host/control";
import { toolCache } from "../toolCache";
import type { Donor, Taken } from "./pin";

/** Last looks at donors, in this user's cache: what was hashed once is not hashed again by the next command, nor by another stack. */
export class Memory {
    constructor(private readonly folder = toolCache("donors")) {}

    /** What was last seen of a donor; nothing when nobody looked, or when it cannot be read. */
    recall(donor: Donor): Taken {
        try {
            return JSON.parse(readFileSync(this.file(donor), "utf8")) as Taken;
        } catch {
            return {};
        }
    }

    /** Adds what was seen now. A cache that cannot be written costs time and no truth. */
    remember(donor: Donor, seen: Taken): void {
        const file = this.file(donor);
        const text = JSON.stringify({ ...this.recall(donor), ...seen });
        try {
            mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
            writeFileSync(`${file}.${process.pid}`, text, { mode: 0o600 });
            renameSync(`${file}.${process.pid}`, file);
        } catch {}
    }

    private file({ connection, venv }: Donor): string {
        const who = `${connection.type}\0${controlName(connection)}\0${venv}`;
        return join(this.folder, `${createHash("sha256").update(who).digest("hex").slice(0, 32)}.json`);
    }
}

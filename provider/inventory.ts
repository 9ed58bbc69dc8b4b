import { readFile } from "node:fs/promises";
import { z } from "zod";
import { type Connection, connection } from "./connection";
import { hostPath } from "./resources/inputs/placed";

const VARIABLE = "SGLANG_FLEET_INVENTORY";

/** The file that VARIABLE names: host name => how it is reached and where everything of ours lies. */
const inventory = z.record(
    z.string(),
    z.strictObject({ connection: connection.partial({ name: true }), root: hostPath }),
);

/** Where the host of an id is. An import gets no more than the id, so the rest comes from a file. */
export async function located(id: string): Promise<{ connection: Connection; root: string }> {
    const host = id.split("/")[0];
    const file = process.env[VARIABLE];
    if (file === undefined || file === "") {
        throw new Error(
            `${id}: how ${host} is reached is not known\nTo mend it: set ${VARIABLE} to a JSON file like {"${host}": {"connection": {"host": "10.0.0.1", "user": "root"}, "root": "/opt/sglang-fleet"}}.`,
        );
    }
    const parsed = inventory.safeParse(JSON.parse(await readFile(file, "utf8")));
    if (!parsed.success) {
        throw new Error(`${file}: ${z.prettifyError(parsed.error)}`);
    }
    const entry = parsed.data[host];
    if (entry === undefined) {
        throw new Error(`${id}: ${file} has no host ${host}; it has ${Object.keys(parsed.data).join(", ") || "none"}`);
    }
    return { connection: { ...entry.connection, name: host }, root: entry.root };
}

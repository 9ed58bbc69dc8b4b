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
    const known = await read();
    if (known === undefined) {
        throw new Error(
            `${id}: how ${host} is reached is not known\nTo mend it: set ${VARIABLE} to a JSON file like {"${host}": {"connection": {"host": "10.0.0.1", "user": "root"}, "root": "/opt/sglang-fleet"}}.`,
        );
    }
    const entry = known.hosts[host];
    if (entry === undefined) {
        throw new Error(
            `${id}: ${known.file} has no host ${host}; it has ${Object.keys(known.hosts).join(", ") || "none"}`,
        );
    }
    return { connection: { ...entry.connection, name: host }, root: entry.root };
}

/** How a donor is reached: as the same file says, else by its name, as ssh config says. */
export async function reached(host: string): Promise<Connection> {
    const entry = (await read())?.hosts[host];
    return entry === undefined ? connection.parse({ name: host }) : { ...entry.connection, name: host };
}

async function read(): Promise<{ file: string; hosts: z.infer<typeof inventory> } | undefined> {
    const file = process.env[VARIABLE];
    if (file === undefined || file === "") {
        return undefined;
    }
    const parsed = inventory.safeParse(JSON.parse(await readFile(file, "utf8")));
    if (!parsed.success) {
        throw new Error(`${file}: ${z.prettifyError(parsed.error)}`);
    }
    return { file, hosts: parsed.data };
}

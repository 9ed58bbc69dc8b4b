import type { z } from "zod";
import { connection as reached } from "../../provider/connection";
import { open } from "./open";
import { secretRef } from "./secret";
import { strict } from "./strict";

const { name: _name, ...fields } = reached.shape;
const hidden = (field: z.ZodType) =>
    secretRef.optional().describe(`${field.description} By reference: { secret: NAME }.`);

/** How a host is reached, as config says it: without the name (the host's key says it), passwords by reference. */
export const connection = strict({
    ...fields,
    type: open(fields.type),
    host: fields.host.describe("Address, or an alias of the user's ssh config. Default: the host's name here."),
    password: hidden(fields.password),
    become: open(fields.become),
    becomePassword: hidden(fields.becomePassword),
    connectTimeout: open(fields.connectTimeout),
}).meta({
    id: "connection",
    description: "How a host is reached: by the system's own OpenSSH client, or not at all (`local`).",
});

export type ConnectionConfig = z.infer<typeof connection>;

import * as pulumi from "@pulumi/pulumi";
import type { z } from "zod";
import type { connection } from "../provider/connection";
import type { Fields } from "./given";

type Inputs = z.input<typeof connection>;

/** How a machine is reached; see the config reference for each field. `name` is plain: it is part of ids and messages. */
export type ConnectionArgs = Fields<Omit<Inputs, "name">> & { name: string };

/** What every resource on a host is given. */
export interface PlacedArgs {
    /** How the host is reached. Never part of a diff: a rotated key restarts nothing. */
    connection: ConnectionArgs;
    /** Directory on the host below which everything of ours lies; absolute path. */
    root: pulumi.Input<string>;
    /** Whether what another stack has made there under the same name is taken over; it loses it. Default: false, it is refused. */
    takeOver?: pulumi.Input<boolean>;
}

/** The same connection, with its passwords marked as secrets whatever they were before. */
export function sealed(given: ConnectionArgs): ConnectionArgs {
    const { password, becomePassword, ...rest } = given;
    return {
        ...rest,
        ...(password === undefined ? {} : { password: pulumi.secret(password) }),
        ...(becomePassword === undefined ? {} : { becomePassword: pulumi.secret(becomePassword) }),
    };
}

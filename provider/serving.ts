import { Declared } from "./declared";
import { Donors } from "./donors/donors";
import { connectHost } from "./host/connect";
import { privateFolder } from "./host/control";
import { Hosts } from "./hosts";
import { LastSeen } from "./lastSeen";
import type { Log } from "./log";
import { operations } from "./operations";
import { table } from "./resources";
import type { Secrets } from "./secrets";
import { Seen } from "./seen";
import type { Operations } from "./server";

/** The operations on real hosts, for the life of this process, and how to let go of the hosts. */
export interface Serving {
    operations: Operations;
    close: () => Promise<void>;
}

/** `cancelled`: aborted when the engine says so. */
export function serving(log: Log, secrets: Secrets, version: string, cancelled: AbortSignal): Serving {
    const hosts = new Hosts((connection) => connectHost(connection));
    const context = {
        hosts,
        donors: new Donors(hosts, cancelled),
        log,
        secrets,
        declared: new Declared(),
        lastSeen: new LastSeen(),
        seen: new Seen(privateFolder()),
        cancelled,
    };
    return { operations: operations(context, table, version), close: () => hosts.close() };
}

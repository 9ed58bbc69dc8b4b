import type { Declared } from "./declared";
import type { Donors } from "./donors/donors";
import type { Hosts } from "./hosts";
import type { LastSeen } from "./lastSeen";
import type { Log } from "./log";
import type { Kept, Placed, Resource } from "./resource";
import type { Secrets } from "./secrets";
import type { Seen } from "./seen";

/** A resource of the table, whichever it is. */
export type AnyResource = Resource<Placed, Placed, Kept>;

/** What the operations of one process share. */
export interface Context {
    hosts: Hosts;
    donors: Donors;
    log: Log;
    /** What must not be shown. */
    secrets: Secrets;
    /** What this stack has in its state, and what its program declares. */
    declared: Declared;
    /** What each resource was when this process last dealt with it. */
    lastSeen: LastSeen;
    /** What the preview of this command saw. */
    seen: Seen;
    /** Aborted when the engine says so. */
    cancelled: AbortSignal;
}

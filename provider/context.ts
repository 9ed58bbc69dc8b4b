import type { Hosts } from "./hosts";
import type { Log } from "./log";
import type { Kept, Placed, Resource } from "./resource";

/** A resource of the table, whichever it is. */
export type AnyResource = Resource<Placed, Placed, Kept>;

/** What the operations of one process share. */
export interface Context {
    hosts: Hosts;
    log: Log;
    /** Aborted when the engine says so. */
    cancelled: AbortSignal;
}

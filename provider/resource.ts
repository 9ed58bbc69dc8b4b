import type { ZodType } from "zod";
import type { Connection } from "./connection";
import type { Donors } from "./donors/donors";
import type { Pins } from "./donors/pin";
import type { HostFacts } from "./host/facts";
import { type Host, HostError, type Progress } from "./host/host";
import type { Path } from "./path";

/** One difference, by path. `path` elements are names or indices: ["packages", "torch"]. */
export interface Change {
    path: (string | number)[];
    kind: "add" | "update" | "delete" | "add-replace" | "update-replace" | "delete-replace";
}

/** A difference, and who made it: the declaration, somebody on the host, both, or somebody on a donor; `note`: what that did. */
export interface Caused extends Change {
    cause: "config" | "host" | "both" | "donor";
    note?: string;
}

/** What can be said before there is work: under the row that it concerns. */
export interface Tell {
    progress: Progress;
    warn: (text: string) => void;
}

/** What an operation may use besides its arguments. */
export interface Work {
    host: Host;
    /** Venvs of this and of other hosts that distributions are taken from. */
    donors: Donors;
    urn: string;
    /** The owner's id that goes with everything made on the host: that of the state, a new one on create. */
    owner: string;
    progress: Progress;
    /** Kept under Diagnostics; first line is a sentence. */
    info: (text: string) => void;
    warn: (text: string) => void;
    signal: AbortSignal;
    /** Whether an input at this path, or anything in it, is marked as a secret. */
    isSecret: (path: Path) => boolean;
    /** Whether what has another owner there is to be taken over. */
    takeOver: boolean;
}

/** What a preview may use: also what differs, by path; nothing on create. */
export interface Planning extends Work {
    changes: Caused[];
}

/** What cannot be planned before another host can be asked: a preview shows the rest, a change fails. */
export class Unplanned extends HostError {}

/** Inputs that every resource has. */
export interface Placed {
    connection: Connection;
    /** Absolute path on the host below which everything of ours lies. */
    root: string;
    /** Whether what another stack has made there under this name is to be taken over. */
    takeOver?: boolean;
}

/** What an import finds; `secrets`: paths of values that may be secret, and so are taken for it; `salt`: key of its digests; `pins`: what
 * was taken from donors, for when they are away. */
export type Imported<I> = { inputs: I; secrets?: Path[]; salt?: string; pins?: Pins } | undefined;

/** State that every resource has. */
export interface Kept {
    /** Random; kept on the host too, and compared before anything is changed there. */
    owner: string;
    /** The machine's identity when the state was written. */
    machine: string;
}

/** What ids are made from besides the inputs. */
export interface Resolving<W> {
    facts?: HostFacts;
    prior?: W;
    seed: Uint8Array;
    donors: Donors;
    tell: Tell;
}

/**
 * A resource, as a value in a table. Only `apply`, `remove` and `plan` touch a host; the rest is pure.
 * I: inputs as the program gives them, after `inputs`; W: the wish, inputs with what `resolve` added.
 */
export interface Resource<I extends Placed, W extends I, S extends Kept> {
    /** `sglang:index:Venv` */
    readonly token: string;
    readonly inputs: ZodType<I>;
    /** Names that `resolve` adds; unknown to dependents while an input is. */
    readonly resolved: readonly string[];
    /** The new one could not live beside the old one: it owns a port. */
    readonly deleteBeforeReplace?: boolean;
    /** Fields of the state that change by themselves. */
    readonly restless?: readonly string[];
    /** Inputs that every user of the host can read: arguments of a process. */
    readonly exposed?: readonly string[];
    /** `<host>/<kind>/<name>`: the id, and what `import` takes. */
    id(inputs: I): string;
    /**
     * Adds what follows from the inputs and the last look: ids that show as `old => new`. Dials nobody but donors, once each. `prior`
     * are the old inputs; `facts` is undefined when nobody looked yet in this process: then what depends on them is left out.
     */
    resolve(inputs: I, context: Resolving<W>): Promise<W>;
    /** State as the host shows it; undefined = the host says that it is not there. `prior` is absent on import. */
    read(facts: HostFacts, id: string, prior?: { inputs: W; state: S }): S | undefined;
    /** Inputs for an import: code-ready. What only the host has is fetched from it. */
    imported(facts: HostFacts, id: string, connection: Connection, host: Host): Imported<I> | Promise<Imported<I>>;
    /** Sentences about what is as declared and still worth a warning; none by default. */
    remarks?(facts: HostFacts, id: string): string[];
    /** Pure: what differs, by path, old = live state. Empty = no update. */
    diff(state: S, wanted: W): Change[];
    /** Preview of create and update: planned state; may look at the host, and says what a person should read. */
    plan(wanted: W, prior: S | undefined, work: Planning): Promise<S>;
    /** Makes it so. When it throws, the host is looked at again to see what was done. */
    apply(wanted: W, prior: S | undefined, work: Work): Promise<S>;
    /** Removes what is ours; what is gone already is no error. */
    remove(inputs: W, state: S, work: Work): Promise<void>;
}

import { canonical } from "../canonical";
import type { Connection } from "../connection";
import { explain } from "../errors";
import type { FaultReport, HostError, Progress } from "../host/host";
import type { Hosts } from "../hosts";
import { Contents } from "./contents";
import type { Origin } from "./fetched";
import { isAway, type Looked, lookAt } from "./look";
import { Memory } from "./memory";
import { type Donor, donorName, type Pin, type Pins, type Taken, takenOf } from "./pin";
import { type Ask, Stream, type Wanted } from "./stream";

/** What is to be taken from a donor. */
export interface Asked extends Donor {
    /** Names and patterns. */
    packages: string[];
    /** Whether the donor is the host that takes. */
    own: boolean;
    /** How the host that takes reaches it by its own ssh; undefined: through this machine. */
    direct?: string;
    /** Whether what was taken once is kept, whatever the donor has now. */
    pin: boolean;
}

/** What a host takes from a donor; `away`: why the donor could not be asked, so that it is what was taken before. */
export interface Found extends Looked {
    away?: HostError;
}

/** Where contents are that a host wants. */
interface Peer {
    connection: Connection;
    root: string;
}

/** The donors of this process: one look at each, one stream from each, and what was taken from them before. */
export class Donors {
    private readonly looks = new Map<string, Promise<Looked>>();
    /** By donor, what was seen in this process. */
    private readonly seen = new Map<string, Taken>();
    private readonly streams = new Map<string, Stream>();
    private readonly pins = new Map<string, Taken>();
    /** Donors that cannot be reached, waited for once. */
    private readonly away = new Map<string, HostError>();
    private readonly refused = new Map<string, HostError>();
    private readonly reasons = new Map<string, unknown>();
    private readonly peers = new Map<string, Map<string, Peer>>();
    /** Bytes that were read from donors and other hosts. */
    readonly counted = { read: 0 };

    constructor(
        private readonly hosts: Hosts,
        /** Aborted when the engine says so. */
        readonly signal?: AbortSignal,
        readonly contents = new Contents(),
        private readonly memory = new Memory(),
    ) {}

    /** Learns what another resource of this stack has taken: a host without a pin of its own takes the same when the donor is away. */
    learn(inputs: Record<string, unknown>): void {
        const { pins, connection, root } = inputs as { pins?: Pins } & Partial<Peer>;
        if (typeof pins !== "object" || connection === undefined || root === undefined) {
            return;
        }
        for (const [donor, taken] of Object.entries(pins)) {
            this.pins.set(donor, { ...this.pins.get(donor), ...taken });
            for (const { digest } of Object.values(taken)) {
                const peers = this.peers.get(digest) ?? new Map<string, Peer>();
                this.peers.set(digest, peers.set(canonical([connection.name, root]), { connection, root }));
            }
        }
    }

    /** What is to be taken: what the donor has, or what was taken (`prior`) when it cannot be asked. Throws HostError. */
    async find(asked: Asked, prior: Taken | undefined, progress?: Progress): Promise<Found> {
        const before = asked.own ? [prior] : [prior, this.pins.get(donorName(asked, false))];
        const pinned = before.map((taken) => takenOf(taken, asked.packages)).find((taken) => taken !== undefined);
        if (asked.pin && pinned !== undefined) {
            return { taken: pinned, notes: [] };
        }
        try {
            return await this.lookOnce(asked, before, progress);
        } catch (error) {
            if (!isAway(error)) {
                throw error;
            }
            const known = pinned ?? takenOf(this.memory.recall(asked), asked.packages);
            if (known === undefined && error.report.code === "not-a-venv") {
                throw error;
            }
            if (known === undefined) {
                // Said at the end of the program as well, and in its exit code: what needs this donor cannot be planned.
                this.hosts.refuse(asked.connection.name, error);
                this.refused.set(asked.connection.name, error);
                throw error;
            }
            return { taken: known, notes: [], away: error };
        }
    }

    /** Why what these donors have is not known. */
    refusal(asked: Asked[]): FaultReport {
        const away = asked.find(({ connection }) => this.refused.has(connection.name));
        const error = away && this.refused.get(away.connection.name);
        const reason = error === undefined ? "it was not looked at" : explain(error).split("\n")[0];
        return {
            code: "donor-away",
            message: `what is to be taken from ${away ? donorName(away, away.own) : "a donor"} is not known: it cannot be asked, and nobody has taken it before`,
            found: reason,
            remedy: "bring the donor back for this one run: afterwards it may go",
        };
    }

    /** Whether a donor still has what was taken; false also when it cannot be asked. */
    async has(asked: Asked, name: string, digest: string): Promise<boolean> {
        const seen = this.seen.get(canonical([asked.connection, asked.venv]))?.[name];
        if (seen !== undefined) {
            return seen.digest === digest;
        }
        try {
            const pins = this.pins.get(donorName(asked, asked.own));
            const { taken } = await this.lookOnce({ ...asked, packages: [name] }, [pins]);
            return taken[name]?.digest === digest;
        } catch (error) {
            this.reasons.set(reasonKey(asked, name), error);
            return false;
        }
    }

    /** Why `has` said no: the failure to ask, in words; undefined when the donor has other bytes now. */
    why(asked: Asked, name: string): string | undefined {
        const error = this.reasons.get(reasonKey(asked, name));
        return error === undefined ? undefined : explain(error).split("\n")[0];
    }

    /** The listing of what was taken, in the cache: it may have to be asked for again. Undefined when nobody has it. */
    async listing(
        asked: Asked,
        { digest }: Pin,
        name: string,
        taker: Peer,
    ): Promise<{ path: string; size: number } | undefined> {
        const here = this.contents.sizeOf(digest) !== undefined;
        if (!here && !(await this.has(asked, name, digest)) && (await this.peer(digest, taker)) === undefined) {
            return undefined;
        }
        return { path: this.contents.path(digest), size: this.contents.sizeOf(digest) ?? 0 };
    }

    /** What brings these contents: the cache, the donor, or another host that took the same; undefined when nobody has them. */
    async streamFor(
        asked: Asked,
        { digest }: Pin,
        name: string,
        files: Wanted[],
        taker: Peer,
    ): Promise<Stream | undefined> {
        if (files.every(({ sha256, size }) => this.contents.has(sha256, size))) {
            const here = () => ({ host: "this machine", where: this.contents.path(digest) });
            return this.streamOf("cache", () => Promise.reject(new Error("all was here")), here);
        }
        if (!asked.own && (await this.has(asked, name, digest))) {
            return this.fromDonor(asked);
        }
        const peer = await this.peer(digest, taker);
        return peer && this.fromPeer(peer);
    }

    private fromDonor({ connection, venv }: Donor): Stream {
        const host = this.hosts.at(connection);
        const ask: Ask = (wanted, into) => {
            const files = wanted.map(({ place, size, from }) => ({ place, size, ...(from > 0 && { from }) }));
            return host.call("donor.get", { venv, files }, { into, signal: this.signal });
        };
        const origin = ({ place }: Wanted) => ({ host: host.label, where: `${venv}: ${place}` });
        return this.streamOf(canonical([connection, venv]), ask, origin);
    }

    private fromPeer({ connection, root }: Peer): Stream {
        const host = this.hosts.at(connection);
        const ask: Ask = (wanted, into) => {
            const sha256 = wanted.map((one) => one.sha256);
            const from = Object.fromEntries(wanted.filter((one) => one.from > 0).map((one) => [one.sha256, one.from]));
            return host.call("store.get", { root, sha256, from }, { into, signal: this.signal });
        };
        const origin = ({ place }: Wanted) => ({ host: host.label, where: `${root}/store: ${place}` });
        return this.streamOf(canonical([connection, root]), ask, origin);
    }

    /** Another host that has a distribution laid out; its listing is fetched from there. */
    private async peer(digest: string, taker: Peer): Promise<Peer | undefined> {
        for (const peer of this.peers.get(digest)?.values() ?? []) {
            if (peer.connection.name === taker.connection.name && peer.root === taker.root) {
                continue;
            }
            const [host, root] = [this.hosts.at(peer.connection), peer.root];
            try {
                const args = { root, digests: [digest] };
                const { missing } = await host.call<{ missing: string[] }>("overlay.missing", args, {
                    signal: this.signal,
                });
                if (missing.length === 0) {
                    this.contents.add(await host.fetch(root, digest));
                    return peer;
                }
            } catch {
                // Off, or without it: the next one may have it.
            }
        }
        return undefined;
    }

    private lookOnce(asked: Asked, before: (Taken | undefined)[], progress?: Progress): Promise<Looked> {
        const { connection, venv, packages } = asked;
        const key = canonical([connection, venv, packages]);
        const known = [...before, this.memory.recall(asked)].filter((taken) => taken !== undefined);
        const look = this.looks.get(key) ?? this.ask(asked, known, progress);
        this.looks.set(key, look);
        return look;
    }

    private async ask(asked: Asked, known: Taken[], progress?: Progress): Promise<Looked> {
        const { name } = asked.connection;
        const before = this.hosts.unreached(name) ?? this.away.get(name);
        if (before !== undefined) {
            throw before;
        }
        const options = { progress, signal: this.signal };
        const host = this.hosts.at(asked.connection);
        const looked = await lookAt(host, asked, known, this.contents, options).catch((error: unknown) => {
            if (isAway(error) && error.report.code !== "not-a-venv") {
                this.away.set(name, error);
            }
            throw error;
        });
        this.memory.remember(asked, looked.taken);
        const key = canonical([asked.connection, asked.venv]);
        this.seen.set(key, { ...this.seen.get(key), ...looked.taken });
        return looked;
    }

    private streamOf(key: string, ask: Ask, origin: (wanted: Wanted) => Origin): Stream {
        const stream = this.streams.get(key) ?? new Stream(ask, this.contents, this.counted, origin);
        this.streams.set(key, stream);
        return stream;
    }
}

function reasonKey({ connection, venv }: Donor, name: string): string {
    return canonical([connection.name, venv, name]);
}

import { canonical } from "./canonical";
import { type Connection, connection as schema } from "./connection";
import type { HostFacts } from "./host/facts";
import { type Host, HostError } from "./host/host";
import { Twins } from "./twins";

/** Makes a host of a connection; nothing is contacted before it is asked something. */
export type Connect = (connection: Connection) => Host;

/** The hosts of this process: one agent each, and what is known of each without asking again. */
export class Hosts {
    private readonly connected = new Map<string, Host>();
    private readonly looks = new Map<string, HostFacts>();
    private readonly failures = new Map<string, HostError>();
    private readonly spoilt = new Map<string, HostError>();
    private readonly twins = new Twins();

    constructor(
        private readonly connect: Connect,
        /** `name=address,…`: addresses to use instead of those in the state, when a host has moved. */
        private readonly moved: ReadonlyMap<string, string> = addresses(process.env.SGLANG_FLEET_CONNECT),
    ) {}

    /** The host behind a connection, the same one for the same connection; its looks are remembered. */
    at(connection: Connection): Host {
        const address = this.moved.get(connection.name);
        // A state that an older version wrote lacks what has a default since.
        const whole = schema.safeParse(connection).data ?? connection;
        const used = address === undefined ? whole : { ...whole, host: address };
        const key = canonical(used);
        const host = this.connected.get(key) ?? this.remembered(connection, this.connect(used));
        this.connected.set(key, host);
        return host;
    }

    /** What the last look saw; undefined when nobody has looked in this process. */
    seen(connection: Connection, root: string): HostFacts | undefined {
        return this.looks.get(place(connection, root));
    }

    /** Why a host could not be looked at, if so. */
    unreached(name: string): HostError | undefined {
        return this.failures.get(name);
    }

    /** Notes that a host cannot be used, though something answers there. */
    refuse(name: string, error: HostError): void {
        this.failures.set(name, error);
    }

    /** Notes that one thing on a host, by its id, cannot be read, though the host answers. */
    unreadable(id: string, error: HostError): void {
        this.spoilt.set(id, error);
    }

    /**
     * All hosts that could not be looked at, not at all of them, or not as what they are declared, by their names in the stack.
     * `left`: whether a name is only in the state, no more in the program.
     */
    allUnreached(left: (name: string) => boolean): [string, HostError][] {
        const ofHosts = [...this.failures, ...this.twins.errors(left)];
        return [
            ...ofHosts,
            ...[...this.spoilt].map(([id, error]): [string, HostError] => [id.split("/")[0] ?? id, error]),
        ];
    }

    private remembered(connection: Connection, host: Host): Host {
        const look = async (root: string, adopt?: string[]): Promise<HostFacts> => {
            try {
                const facts = await host.look(root, adopt);
                this.looks.set(place(connection, root), facts);
                this.failures.delete(connection.name);
                this.twins.note(connection.name, host.label, facts);
                return facts;
            } catch (error) {
                if (error instanceof HostError) {
                    this.failures.set(connection.name, error);
                }
                throw error;
            }
        };
        return {
            label: host.label,
            look,
            changed: (root) => host.changed(root),
            call: (op, args, options) => host.call(op, args, options),
            send: (root, contents, progress, signal) => host.send(root, contents, progress, signal),
            fetch: (root, sha256) => host.fetch(root, sha256),
            close: () => host.close(),
        };
    }

    async close(): Promise<void> {
        await Promise.allSettled([...this.connected.values()].map((host) => host.close()));
    }
}

function place(connection: Connection, root: string): string {
    return `${connection.name}\0${root}`;
}

/** Reads `ct200=10.1.2.201,ct129=gpu-b`. */
function addresses(text: string | undefined): ReadonlyMap<string, string> {
    const pairs = (text ?? "").split(",").map((pair) => pair.trim().split("=", 2));
    return new Map(
        pairs.filter((pair): pair is [string, string] => pair.length === 2 && pair[0] !== "" && pair[1] !== ""),
    );
}

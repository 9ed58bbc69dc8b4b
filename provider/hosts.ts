import { canonical } from "./canonical";
import { type Connection, connection as schema } from "./connection";
import type { HostFacts } from "./host/facts";
import { type Host, HostError } from "./host/host";

/** Makes a host of a connection; nothing is contacted before it is asked something. */
export type Connect = (connection: Connection) => Host;

/** The hosts of this process: one agent each, and what is known of each without asking again. */
export class Hosts {
    private readonly connected = new Map<string, Host>();
    private readonly looks = new Map<string, HostFacts>();
    private readonly failures = new Map<string, HostError>();
    private readonly spoilt = new Map<string, HostError>();
    /** Who was seen first at each place, and what is to be said of who came second. */
    private readonly first = new Map<string, string>();
    private readonly twins = new Map<string, HostError>();

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

    /** All hosts that could not be looked at, not at all of them, or not as what they are declared, by their names in the stack. */
    allUnreached(): [string, HostError][] {
        const ofHosts = [...this.failures, ...this.twins];
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
                this.compare(connection.name, host.label, facts);
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

    /** Two names of one machine and root would each take the other's things for their own. */
    private compare(name: string, label: string, { machine, root, place }: HostFacts): void {
        const { machineId, hostKey, bootId } = machine;
        const key = JSON.stringify([machineId, hostKey, bootId, root, place]);
        const before = this.first.get(key) ?? name;
        this.first.set(key, before);
        if (before !== name) {
            this.twins.set(
                name,
                new HostError(label, {
                    code: "same-machine",
                    message: `is the same machine and root as ${before}`,
                    where: root,
                    found: `machine id ${machineId} (${machine.hostname})`,
                    expected: "a machine stands in a stack once, or with another root",
                    remedy: `correct the address of one of them, take one out of the config, or give it another \`root\``,
                }),
            );
        }
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

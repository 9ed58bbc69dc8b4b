import type { Connection } from "../connection";
import { verifying } from "../verify";
import { unlessAborted } from "./abort";
import { Agent } from "./agent";
import type { HostFacts } from "./facts";
import { fetchContent } from "./fetch";
import { type CallOptions, type Content, type Host, HostError, type Progress } from "./host";
import { sendContents } from "./send";
import { type HostStats, noStats } from "./stats";

/** Milliseconds for which a failed connection counts as the answer to further calls: a dead host is waited for once, not once per resource. */
const FAILURE_HOLDS = 10_000;

/** Milliseconds after which a look that is not answered has failed: a disk that hangs on one host must not keep the others waiting. */
const LOOK_LIMIT = 600_000;

/** A host that is reached by a connection, with what was exchanged so far. */
export interface ConnectedHost extends Host {
    readonly stats: Readonly<HostStats>;
}

/** The host behind a connection. Nothing is started before it is asked something. */
export function connectHost(connection: Connection, lookLimit = LOOK_LIMIT): ConnectedHost {
    return new AgentHost(connection, lookLimit);
}

interface Look {
    adopt: Set<string>;
    /** Whether its request is on the way: until then more paths can be asked for by it. */
    sent: boolean;
    facts: Promise<HostFacts>;
}

class AgentHost implements ConnectedHost {
    readonly label: string;
    readonly stats = noStats();
    private readonly looks = new Map<string, Look>();
    private agent: Promise<Agent> | undefined;
    private running: Agent | undefined;
    private failure: { error: HostError; at: number } | undefined;

    constructor(
        private readonly connection: Connection,
        private readonly lookLimit: number,
    ) {
        const { type, name, host } = connection;
        const address = type === "local" ? "local" : (host ?? name);
        this.label = address === name ? name : `${name} (${address})`;
    }

    look(root: string, adopt: string[] = []): Promise<HostFacts> {
        const known = this.looks.get(root);
        if (known !== undefined && adopt.every((path) => known.adopt.has(path))) {
            return known.facts;
        }
        if (known !== undefined && !known.sent) {
            for (const path of adopt) {
                known.adopt.add(path);
            }
            return known.facts;
        }
        const look: Look = {
            adopt: new Set([...(known?.adopt ?? []), ...adopt]),
            sent: false,
            facts: Promise.resolve(undefined as never),
        };
        look.facts = this.lookOnce(root, look);
        this.looks.set(root, look);
        return look.facts;
    }

    changed(root: string): void {
        this.looks.delete(root);
    }

    async call<R>(op: string, args: Record<string, unknown>, options?: CallOptions): Promise<R> {
        const agent = await unlessAborted(this.connected(), options?.signal, this.label);
        return agent.call<R>(op, args, options);
    }

    send(root: string, contents: Content[], progress?: Progress, signal?: AbortSignal): Promise<void> {
        return sendContents(this, root, contents, progress, signal);
    }

    fetch(root: string, sha256: string): Promise<Buffer> {
        return fetchContent(this, root, sha256);
    }

    async close(): Promise<void> {
        const agent = await this.agent?.catch(() => undefined);
        this.agent = undefined;
        this.running = undefined;
        await agent?.close();
    }

    /** A shared connection may have died unseen since the last command; a look changes nothing, so it is tried once more. */
    private async lookOnce(root: string, look: Look): Promise<HostFacts> {
        try {
            return await this.ask(root, look);
        } catch (error) {
            if (error instanceof HostError && error.report.code === "lost") {
                return await this.ask(root, look);
            }
            throw error;
        }
    }

    private async ask(root: string, look: Look): Promise<HostFacts> {
        const agent = await this.connected();
        look.sent = true;
        const answer = agent.call<HostFacts>("look", {
            root,
            adopt: [...look.adopt],
            ...(verifying() && { verify: true }),
        });
        if (verifying()) {
            return answer;
        }
        const limit = AbortSignal.timeout(this.lookLimit);
        return unlessAborted(answer, limit, this.label).catch((error: unknown) => {
            throw limit.aborted ? unanswered(this.label, this.lookLimit) : error;
        });
    }

    private connected(): Promise<Agent> {
        if (this.agent !== undefined && this.running?.alive !== false) {
            return this.agent;
        }
        if (this.failure !== undefined && Date.now() - this.failure.at < FAILURE_HOLDS) {
            return Promise.reject(this.failure.error);
        }
        this.agent = this.start();
        return this.agent;
    }

    /** One start for all who wait for it. */
    private async start(): Promise<Agent> {
        this.running = undefined;
        try {
            this.running = await Agent.start(this.connection, this.label, this.stats);
            this.failure = undefined;
            return this.running;
        } catch (error) {
            this.failure = { error: error as HostError, at: Date.now() };
            this.agent = undefined;
            throw error;
        }
    }
}

function unanswered(host: string, limit: number): HostError {
    return new HostError(host, {
        code: "silent",
        message: `no answer to a look within ${limit / 1000} s, though the agent had begun`,
        remedy: "see whether the host's disks answer, network file systems among them",
    });
}

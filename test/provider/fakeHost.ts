/** A host that is a few maps: for what a real one does not do on demand (fail in the middle, hang, be another machine). */
import type { HostFacts, VenvFacts } from "../../provider/host/facts";
import { type CallOptions, type Content, type Host, HostError } from "../../provider/host/host";
import type { ServiceFacts } from "../../provider/host/serviceFacts";

type Args = Record<string, unknown> & { claim: { owner: string; name: string } };

export class FakeHost implements Host {
    readonly label = "here";
    readonly calls: { op: string; args: Record<string, unknown> }[] = [];
    readonly sent: Content[] = [];
    looks = 0;
    /** Thrown by each look. */
    away: HostError | undefined;
    /** Runs instead of an operation when it has one. */
    readonly instead = new Map<string, (args: Args, options: CallOptions) => Promise<unknown>>();
    facts: HostFacts = emptyFacts();

    async look(_root: string, adopt: string[] = []): Promise<HostFacts> {
        this.looks++;
        if (this.away !== undefined) {
            throw this.away;
        }
        const adoptable = Object.fromEntries(adopt.map((path) => [path, this.facts.adoptable[path] ?? null]));
        return structuredClone({ ...this.facts, adoptable: { ...this.facts.adoptable, ...adoptable } });
    }

    changed(): void {}

    async call<R>(op: string, args: Record<string, unknown>, options: CallOptions = {}): Promise<R> {
        this.calls.push({ op, args });
        if (this.away !== undefined) {
            throw this.away;
        }
        const own = this.instead.get(op);
        return (own === undefined ? this.done(op, args as Args) : await own(args as Args, options)) as R;
    }

    async send(_root: string, contents: Content[]): Promise<void> {
        this.sent.push(...contents);
    }

    async fetch(_root: string, sha256: string): Promise<Buffer> {
        const found = this.sent.find((content) => content.sha256 === sha256);
        return Buffer.from(found !== undefined && "text" in found ? found.text : "");
    }

    async close(): Promise<void> {}

    /** What an operation leaves when all goes well. */
    done(op: string, args: Args): unknown {
        if (op === "venv.diff") {
            const { patches, files } = args as unknown as Record<"patches" | "files", unknown[]>;
            return { patches: patches.map(() => null), files: files.map(() => null) };
        }
        if (op === "venv.foresee") {
            return { shared: [], leftovers: [], scripts: [] };
        }
        if (op === "service.port") {
            return { problem: null, takes: null };
        }
        const { owner, name } = args.claim;
        const { facts } = this;
        if (op === "env.stage") {
            facts.envs[name] = { owner, id: args.id as string, variables: args.variables as Record<string, string> };
        } else if (op === "env.remove") {
            delete facts.envs[name];
        } else if (op === "patch.stage") {
            const patches = args.patches as {
                target: { path?: string; module?: string };
                kind: string;
                sha256: string;
            }[];
            const files = patches.map(({ target, kind, sha256 }) => [
                target.path ?? `module:${target.module}`,
                `${kind} ${sha256}`,
            ]);
            facts.patches[name] = { owner, digest: args.digest as string, files: Object.fromEntries(files), pre: {} };
        } else if (op === "venv.make") {
            facts.venvs[name] = madeVenv(owner, args);
        } else if (op === "service.activate") {
            facts.services[name] = activeService(owner, args);
            return { pid: 4711, readyAfter: 31.4, restarted: true };
        }
        return {};
    }
}

export function unreachable(host = "here"): HostError {
    return new HostError(host, { code: "unreachable", message: "connection refused", remedy: "start sshd there" });
}

function emptyFacts(): HostFacts {
    const machine = {
        machineId: "m-1",
        hostKey: "k-1",
        bootId: "b-1",
        hostname: "here",
        python: "3.11.2",
        arch: "x86_64",
        libc: "glibc" as const,
        user: "root",
        uid: 0,
        systemd: true,
        now: 1_800_000_000,
    };
    return {
        format: 1,
        machine,
        root: "/srv/fleet",
        place: "1:2",
        claims: {},
        overlays: {},
        patches: {},
        venvs: {},
        envs: {},
        services: {},
        adoptable: {},
    };
}

function madeVenv(owner: string, args: Args): VenvFacts {
    const release = args.release as string;
    const recipe = args.recipe as VenvFacts["releases"][string]["recipe"];
    const made = {
        complete: true,
        recipe,
        drift: [],
        driftCount: 0,
        exchanged: {},
        packages: { sglang: "0.5.23", torch: "2.14.1" },
        files: { "sglang/srt/x.py": "5".repeat(64) },
        located: { "sglang/srt/x.py": `/srv/fleet/venvs/${args.claim.name}/releases/${release}/src/0/sglang/srt/x.py` },
        site: `/srv/fleet/venvs/${args.claim.name}/releases/${release}/lib/python3.11/site-packages`,
        made: 1_800_000_000,
    };
    const base = recipe?.base ?? { kind: "managed", key: "" };
    return { owner, release, base, releases: { [release]: made } };
}

function activeService(owner: string, args: Args): ServiceFacts {
    const { venv, release, env, spec } = args as unknown as NonNullable<ServiceFacts["current"]>;
    const { patched: _, timeout: __, ...passed } = args.gates as Record<string, unknown>;
    return {
        owner,
        current: { venv, release, env, spec, activated: 1_800_000_000, passed },
        supervisor: spec.supervisor,
        unit: null,
        process: {
            pid: 4711,
            started: 1,
            user: "root",
            exe: "/python",
            release,
            argsMatch: true,
            args: spec.args,
            envDiffers: [],
            limitsDiffer: [],
            newerFiles: [],
            patched: [],
            linkedTo: null,
        },
        running: "running",
        activation: null,
        refused: null,
    };
}

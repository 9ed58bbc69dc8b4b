/**
 * What one look at a host brings back: everything below one root, and what runs from it. Facts only: nothing here
 * knows what is wanted. `agent/look.py` makes it; see docs/protocol.md for each field's origin.
 */

import type { FaultReport } from "./host";

/** The machine itself. */
export interface MachineFacts {
    /** `/etc/machine-id`, else a digest of the SSH host key; tells two machines behind one address apart. */
    machineId: string;
    /** Digest of the public SSH host keys; "" without any. */
    hostKey: string;
    bootId: string;
    hostname: string;
    /** Version of the Python that runs the agent, e.g. `3.11.2`. */
    python: string;
    /** `uname -m`. */
    arch: string;
    /** The C library that its programs are linked with. */
    libc: "glibc" | "musl";
    user: string;
    uid: number;
    /** Whether systemd is PID 1 and may be asked. */
    systemd: boolean;
    /** The host's clock, seconds since the epoch. */
    now: number;
}

export interface Claim {
    owner: string;
    urn: string;
    since: number;
}

export interface StagedOverlays {
    owner: string;
    digest: string;
    /** Distribution name => `<version> <digest, 12 hex>` of what is staged. A tree that is gone or altered is not listed. */
    packages: Record<string, string>;
    /** Each overlay in order: what it was declared with, for an import; absent in what an older version has staged. */
    origins?: { packages: string[]; source: OverlayOrigin | null }[];
}

/** Where an overlay came from; of a directory the host keeps no more than that it was one, of an archive which. */
export type OverlayOrigin =
    | { kind: "wheel"; sha256: string; filename: string }
    | { kind: "directory"; archive?: string; sha256?: string; version?: string }
    /** `host`: as the stack named it, absent of a venv on the same host; `asked`: the names and patterns that brought it. */
    | { kind: "donor"; listing: string; venv: string; asked: string[]; host?: string }
    | { kind: "index"; requirement: string; indexUrl?: string; extraIndexUrl?: string[]; findLinks?: string[] };

export interface StagedPatches {
    owner: string;
    digest: string;
    /** Path below site-packages, or `module:<name>`, => `<kind> <sha256>`; a content that is gone reads `missing`. */
    files: Record<string, string>;
    /** The same names => sha256 of the file that is to be patched, where that is declared. */
    pre: Record<string, string>;
}

export type TreeDriftKind = "edited" | "missing" | "extra";

/** A file that is no longer as it was made; `mode`: `644 → 600`, when nothing else of it differs. */
export interface FileDrift {
    path: string;
    kind: TreeDriftKind;
    mode?: string;
}

/** A distribution that an installer put there, exchanged or took away by hand. */
export interface Exchanged {
    /** Its version as the release was made; null = it was not there. */
    was: string | null;
    /** Its version now; null = it is gone. */
    now: string | null;
    /** How many of its files differ, patched ones aside: those stand in the drift. */
    files: number;
    /** How many of these a process may have loaded. */
    loaded: number;
}

export interface ReleaseFacts {
    complete: boolean;
    /** What the release was made of, as `venv.make` was told. */
    recipe: Recipe | null;
    /**
     * Files that are no longer what the manifest says (bytecode is not counted), patched ones first, then those of sglang; at most
     * 200, `driftCount` has all.
     */
    drift: FileDrift[];
    driftCount: number;
    /** By normalised name; their files are not in `drift`. */
    exchanged: Record<string, Exchanged>;
    /** Version of each distribution as its metadata says, by normalised name. */
    packages: Record<string, string>;
    /** sha256 of each patched file as it is in the release now, by path below site-packages. */
    files: Record<string, string>;
    /** Absolute path of each patched file, by the same names. */
    located: Record<string, string>;
    /** site-packages of the release, absolute. */
    site: string;
    made: number;
}

/** How a release came to be; its digest is the release id. */
export interface Recipe {
    version: 1;
    base: { kind: "adopt"; path: string; fingerprint: string } | { kind: "managed"; key: string };
    overlays: string;
    patches: string;
}

/** What a managed base was made of; an index whose URL holds a name or password is left out. */
export interface MadeBase {
    python?: string;
    /** sha256 of the locked requirements, which are in the store. */
    requirements?: string;
    noDeps?: boolean;
    indexUrl?: string;
    extraIndexUrl?: string[];
    findLinks?: string[];
}

/** What was changed in an adopted venv since the wanted release was made of it. */
export interface MovedBase {
    /** Name => version that was copied, version now; null = none. */
    packages: Record<string, [string | null, string | null]>;
    /** How many files of site-packages differ, metadata not counted; the first of them by path. */
    files: number;
    first: string[];
}

export interface VenvFacts {
    owner: string;
    /** The release that was last made as wanted; what runs is a service's matter. */
    release: string | null;
    base:
        | { kind: "adopt"; path: string; fingerprint: string | null; moved?: MovedBase | null }
        | { kind: "managed"; key: string; made?: MadeBase };
    releases: Record<string, ReleaseFacts>;
}

export interface UnitFacts {
    name: string;
    path: string;
    exists: boolean;
    /** Whether its bytes are those that were written. */
    asWritten: boolean;
    needsReload: boolean;
    /** Where its path leads to, when somebody has put a link there; null = it is a file. */
    linked: string | null;
    masked: boolean;
    dropIns: string[];
    enabled: boolean;
    activeState: string;
    restarts: number;
}

export interface ProcessFacts {
    pid: number;
    /** Seconds since the epoch. */
    started: number;
    user: string;
    exe: string;
    /** The release that its interpreter really lies in, or null when it is another one's. */
    release: string | null;
    /** Where the service's stable link leads, when that is not the release that it was started from. */
    linkedTo: string | null;
    argsMatch: boolean;
    args: string[];
    /** Names of variables that differ from the staged spec; never values. */
    envDiffers: string[];
    /** Limits that are not the declared ones, each as a sentence. */
    limitsDiffer: string[];
    /** Files of the release, or of its environment, that were put there after the process started. */
    newerFiles: string[];
    /** The patched files that it was proven with. */
    patched: PatchedFacts[];
}

/** A patched file as it is now. */
export interface PatchedFacts {
    /** Below site-packages, or below the source tree of an editable install. */
    path: string;
    /** Where that is, absolute and without links; null = the release is none any more. */
    file: string | null;
    /** null = it is gone. */
    sha256: string | null;
    /** sha256 of what was proven. */
    declared: string;
    /** Whether the process was started before the file was put there. */
    older: boolean;
}

export interface ActivationFacts {
    id: string;
    /** running: at work now; interrupted: nobody works on it any more, the next look or boot ends it. */
    state: "running" | "interrupted" | "committed" | "rolled-back" | "failed";
    stage: string;
    started: number;
    message: string | null;
}

/** A gate's refusal of the last candidate. */
export interface RefusedFacts {
    release: string;
    /** Arguments of the module, and our own `--config` behind them; null in what an older version wrote. */
    args?: string[] | null;
    /** Seconds since the epoch. */
    checked: number;
    gate: string;
    /** The first problem, and how many more there were. */
    text: string;
    more: number;
}

export interface ServiceFacts {
    /** "" = it runs, and the files that said so are gone. */
    owner: string;
    /** The wish that was last committed: the `spec` of `service.activate`, without secrets; null before the first. */
    current: {
        venv: string;
        release: string;
        env: string;
        spec: ServiceSpec;
        activated: number;
        /** What the gates were asked and have passed; null in what an older version has committed. */
        passed?: Record<string, unknown> | null;
    } | null;
    supervisor: "systemd" | "process" | null;
    unit: UnitFacts | null;
    /** The main process, or null when nothing runs. */
    process: ProcessFacts | null;
    /** Whether it is meant to run and does; a sentence when it does not ("exited 1 at …"). */
    running: string;
    /** Programs of ours that start it and are not as they were written, each as a sentence. */
    altered?: string[];
    /** The last one; null before the first. */
    activation: ActivationFacts | null;
    /** null: the last candidate passed the gates, or there was none yet. */
    refused: RefusedFacts | null;
}

export interface EnvFacts {
    owner: string;
    id: string;
    /** Name => value as staged. Secrets are among them: never log or show these. */
    variables: Record<string, string>;
    /** Key of the id, hex; null in what an older version has staged. */
    salt?: string | null;
}

export interface HostFacts {
    format: number;
    machine: MachineFacts;
    root: string;
    /** Device and inode of the root, or of the folder that it will lie in. */
    place: string;
    claims: Record<string, Claim>;
    overlays: Record<string, StagedOverlays>;
    patches: Record<string, StagedPatches>;
    venvs: Record<string, VenvFacts>;
    envs: Record<string, EnvFacts>;
    services: Record<string, ServiceFacts>;
    /** Fingerprints of venvs that are not adopted yet, asked for by path; null = no venv there. */
    adoptable: Record<string, string | null>;
    /** `<kind>/<name>` as in `claims` => why what is there cannot be read, though the rest can; absent = nothing is so. */
    unreadable?: Record<string, FaultReport>;
}

/** The process as it is declared; what `service.activate` gets and `current.spec` shows again. */
export interface ServiceSpec {
    /** Module that is run with `python -m`; `sglang.launch_server`. */
    module: string;
    /** Arguments after the module, in order. Nothing secret is among them. */
    args: string[];
    /** Address that the server listens on, as the host itself reaches it (0.0.0.0 is asked at 127.0.0.1). */
    address: string;
    port: number;
    /** Path on the host whose existence is checked before anything is stopped; null for a hub id. */
    modelPath: string | null;
    user: string | null;
    group: string | null;
    /** null: `work/` of the service, its user's own and empty at first. */
    workingDirectory: string | null;
    /** systemd names without `Limit`, lower case: nofile, memlock, stack, core, nproc; `infinity` or a number. */
    limits: Record<string, string>;
    supervisor: "systemd" | "process";
    /** Log file for `process` (default `<service>/server.log`) and, if set, for systemd (else the journal). */
    log: string | null;
    /** Whether others may hold the GPUs that it sees. */
    shareGpus: boolean;
    /** Whether a server that somebody started by hand is stopped for it when that holds the port. */
    takeOverPort: boolean;
    /** Seconds between SIGTERM and SIGKILL. */
    stopTimeout: number;
}

/**
 * What one look at a host brings back: everything below one root, and what runs from it. Facts only: nothing here
 * knows what is wanted. `agent/look.py` makes it; see docs/protocol.md for each field's origin.
 */

import type { FaultReport } from "./host";
import type { ServiceFacts } from "./serviceFacts";

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
    /** Distribution name => `<version> <digest, 12 hex>` of what is staged. `<version> edited on the host`: its tree was altered, or is not whole; a tree that is gone is not listed. */
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

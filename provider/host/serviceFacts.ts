/** What a look brings back of the services of a host: what was committed, what the service manager has, and what runs. */

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
    /** Whether anybody listens on its port; absent in what an older agent says. */
    listens?: boolean;
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
    /** Where the stable link of one that does not run leads, when that is not the release that it would start from; absent in what an older agent says. */
    linkedTo?: string | null;
    /** Whether it is meant to run and does; a sentence when it does not ("exited 1 at …"). */
    running: string;
    /** Programs of ours that start it and are not as they were written, each as a sentence. */
    altered?: string[];
    /** The last one; null before the first. */
    activation: ActivationFacts | null;
    /** null: the last candidate passed the gates, or there was none yet. */
    refused: RefusedFacts | null;
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

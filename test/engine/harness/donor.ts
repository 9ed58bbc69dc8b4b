import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { project } from "./workspace";

/** One distribution of a donor, described or as a wheel that lies there: see test/standin/donor.py. */
export type Donated = { wheel: string } | Described;

interface Described {
    version: string;
    /** Path below site-packages => text, or so many bytes of a seed. */
    files?: Record<string, string | [number, number]>;
    scripts?: Record<string, string>;
    data?: Record<string, string>;
    tag?: string;
    requires?: string[];
}

/** The script that makes a donor; for a test host, which has Python too. */
export const donorScript = readFileSync(join(project, "test/standin/donor.py"), "utf8");

/** Installs distributions into a venv on this machine, made if need be. */
export function donate(venv: string, distributions: Record<string, Donated>): void {
    execFileSync("python3", ["-I", "-S", "-B", "-c", donorScript, venv, JSON.stringify(distributions)], {
        stdio: ["ignore", "ignore", "inherit"],
    });
}

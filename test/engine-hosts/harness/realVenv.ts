import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statfsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { project } from "../../engine/harness";

/** Bytes that the packages, what uv keeps of them, and a release of them take at most. */
const ROOM = 24e9;

/**
 * A venv with real SGLang: the one that SGLANG_TEST_VENV names, else the base of the dev stack, else one that is made of its
 * lock, once, in the project's cache (6 GB; `say` is told so). `why`: it cannot be made here.
 */
export function realVenv(say: (text: string) => void): { venv: string } | { why: string } {
    const there = process.env.SGLANG_TEST_VENV ?? devBase();
    if (there !== undefined) {
        return { venv: there };
    }
    try {
        return { venv: madeVenv(say) };
    } catch (error) {
        return { why: `a venv with real SGLang cannot be made here: ${(error as Error).message}` };
    }
}

const requirements = join(project, "dev/requirements.txt");

function devBase(): string | undefined {
    const venvs = join(project, ".dev/host/venvs/cpu");
    const bases = existsSync(venvs) ? readdirSync(venvs).filter((name) => /^base-[0-9a-f]+\.json$/.test(name)) : [];
    const base = bases.map((name) => join(venvs, name.replace(/\.json$/, ""))).find((path) => existsSync(path));
    return base;
}

function madeVenv(say: (text: string) => void): string {
    const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "pulumi-sglang");
    const digest = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 12);
    const made = join(cache, `sglang-copied-${digest}`);
    if (!existsSync(made)) {
        say(`making a venv with real SGLang in ${made}, once (6 GB)`);
        mkdirSync(cache, { recursive: true });
        const { bavail, bsize } = statfsSync(cache);
        if (bavail * bsize < ROOM) {
            throw new Error(`${cache} has ${(bavail * bsize) / 1e9} GB left, and it needs ${ROOM / 1e9} GB`);
        }
        const beside = mkdtempSync(join(cache, ".sglang-venv-"));
        try {
            execFileSync("uv", ["venv", "--quiet", "--clear", "--relocatable", "--python", "3.11", beside]);
            const into = ["--python", join(beside, "bin/python"), "--no-deps", "--requirement", requirements];
            // Copies: links to uv's cache would change with every other install from it, and a test compares link counts.
            execFileSync("uv", ["pip", "install", "--quiet", "--link-mode", "copy", ...into], {
                stdio: ["ignore", "inherit", "inherit"],
            });
            renameSync(beside, made);
        } catch (error) {
            // Another test file may have made it meanwhile.
            if (!existsSync(made)) {
                throw error;
            }
        } finally {
            rmSync(beside, { recursive: true, force: true });
        }
    }
    return made;
}

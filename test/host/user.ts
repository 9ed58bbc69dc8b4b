import { execFileSync } from "node:child_process";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { processes, signal } from "./processes";

/** A user of this machine for as long as a test takes. `files`: what lies in the home, by name. */
export class User {
    readonly name: string;
    readonly home: string;
    private sudoers: string | undefined;
    private static count = 0;

    constructor({
        shell = "/bin/bash",
        password,
        files = {},
    }: { shell?: string; password?: string; files?: Record<string, string> } = {}) {
        User.count += 1;
        this.name = `sgl${process.pid}x${User.count}`;
        const hash =
            password === undefined
                ? "*"
                : execFileSync("openssl", ["passwd", "-6", password], { encoding: "utf8" }).trim();
        execFileSync("useradd", ["--create-home", "--shell", shell, "--password", hash, this.name], {
            stdio: "ignore",
        });
        this.home = `/home/${this.name}`;
        for (const [name, text] of Object.entries(files)) {
            writeFileSync(join(this.home, name), text);
        }
    }

    /** Lets the user become root; `rule` is the last part of the sudoers line, e.g. `NOPASSWD: ALL`. */
    allowSudo(rule: string): void {
        this.sudoers = `/etc/sudoers.d/${this.name}`;
        writeFileSync(this.sudoers, `${this.name} ALL=(ALL) ${rule}\n`, { mode: 0o440 });
    }

    remove(): void {
        if (this.sudoers !== undefined) {
            rmSync(this.sudoers);
        }
        const uid = ownerOf(this.home);
        for (const { pid } of processes().filter((process) => ownerOf(`/proc/${process.pid}`) === uid)) {
            signal(pid, "SIGKILL");
        }
        execFileSync("userdel", ["--remove", "--force", this.name], { stdio: "ignore" });
    }
}

/** The user id that a process has, or that owns a folder; undefined when there is none such. */
function ownerOf(path: string): number | undefined {
    return statSync(path, { throwIfNoEntry: false })?.uid;
}

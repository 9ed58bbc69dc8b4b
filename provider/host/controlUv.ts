import { open, readdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { toolCache } from "../toolCache";
import type { MachineFacts } from "./facts";

/** ELF's numbers of the processors that uv is built for, by `uname -m`. */
const PROCESSORS: Record<string, number> = { x86_64: 62, aarch64: 183 };
const INTERPRETER = 3;

/**
 * A uv on the control machine that runs on a machine: its processor, and its C library unless uv brings its own. From PATH, else
 * from what the project's scripts have fetched; undefined when there is none. What only starts a uv, as pyenv's shims do, is none.
 */
export async function uvFor(machine: Pick<MachineFacts, "arch" | "libc">): Promise<string | undefined> {
    for (const path of [...onPath(process.env.PATH ?? ""), ...(await fetched())]) {
        if (await runsOn(path, machine)) {
            return path;
        }
    }
    return undefined;
}

function onPath(path: string): string[] {
    return path
        .split(delimiter)
        .filter((folder) => folder !== "")
        .map((folder) => join(folder, "uv"));
}

async function fetched(): Promise<string[]> {
    const folder = toolCache("uv");
    const versions = await readdir(folder).catch(() => []);
    return versions.sort().map((version) => join(folder, version, "bin", "uv"));
}

async function runsOn(path: string, { arch, libc }: Pick<MachineFacts, "arch" | "libc">): Promise<boolean> {
    const built = await builtFor(path);
    if (built === undefined || built.processor !== PROCESSORS[arch]) {
        return false;
    }
    return built.loader === undefined || built.loader.includes("ld-musl") === (libc === "musl");
}

/** What an ELF file of 64 bits, little end first, says that it needs; undefined when it is none. `loader`: of a shared C library. */
async function builtFor(path: string): Promise<{ processor: number; loader?: string } | undefined> {
    const file = await open(path).catch(() => undefined);
    if (file === undefined) {
        return undefined;
    }
    try {
        const { buffer: head, bytesRead } = await file.read(Buffer.alloc(4096), 0, 4096, 0);
        if (bytesRead < 64 || head.toString("latin1", 0, 6) !== "\x7fELF\x02\x01") {
            return undefined;
        }
        const [table, size, count] = [Number(head.readBigUInt64LE(32)), head.readUInt16LE(54), head.readUInt16LE(56)];
        const parts = Array.from({ length: count }, (_, at) => table + at * size);
        const at = parts.find((part) => part + size <= bytesRead && head.readUInt32LE(part) === INTERPRETER);
        const processor = head.readUInt16LE(18);
        if (at === undefined) {
            return { processor };
        }
        const [offset, length] = [Number(head.readBigUInt64LE(at + 8)), Number(head.readBigUInt64LE(at + 32))];
        const { buffer: loader } = await file.read(Buffer.alloc(length), 0, length, offset);
        return { processor, loader: loader.toString("latin1").replace(/\0.*$/s, "") };
    } catch {
        return undefined; // a folder, or what is no whole file
    } finally {
        await file.close();
    }
}

import { spawn } from "node:child_process";
import type { Transport } from "./transport";

/** The control machine itself. The working directory is `/`, so that nothing of the caller's is held or found. */
export function localTransport(): Transport {
    return { start: (command) => spawn("/bin/sh", ["-c", command], { cwd: "/", stdio: "pipe" }) };
}

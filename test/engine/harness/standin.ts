import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { join } from "node:path";
import { project, type Workspace } from "./workspace";

/** Wheels of the stand-in distributions, made anew in the workspace. */
export function standinWheels(workspace: Workspace): string {
    const folder = join(workspace.folder, "wheels");
    execFileSync("python3", [join(project, "test/standin/make_wheels.py"), folder], { stdio: "ignore" });
    return folder;
}

/** Below what kernels take for outgoing connections by themselves (32768 and above on Linux): nobody gets it by chance. */
const PORTS = [20_000, 32_000] as const;

/** A port that nothing listens on, and that no connection is given meanwhile. */
export async function freePort(): Promise<number> {
    for (;;) {
        const port = randomInt(...PORTS);
        const server = createServer();
        const free = await new Promise<boolean>((resolve) => {
            server.once("error", () => resolve(false));
            server.listen(port, "127.0.0.1", () => resolve(true));
        });
        await new Promise((resolve) => server.close(resolve));
        if (free) {
            return port;
        }
    }
}

/** The text that the server on this port completes with. */
export async function completion(port: number, key?: string, address = "127.0.0.1"): Promise<string> {
    const answer = await fetch(`http://${address}:${port}/v1/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", ...(key ? { authorization: `Bearer ${key}` } : {}) },
        body: JSON.stringify({ model: "default", prompt: "hello", max_tokens: 4, temperature: 0 }),
        signal: AbortSignal.timeout(20_000),
    });
    if (!answer.ok) {
        throw new Error(`/v1/completions: ${answer.status} ${await answer.text()}`);
    }
    const { choices } = (await answer.json()) as { choices: { text: string }[] };
    return choices[0]?.text ?? "";
}

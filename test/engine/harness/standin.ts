import { execFileSync } from "node:child_process";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { project, type Workspace } from "./workspace";

/** Wheels of the stand-in distributions, made anew in the workspace. */
export function standinWheels(workspace: Workspace): string {
    const folder = join(workspace.folder, "wheels");
    execFileSync("python3", [join(project, "test/standin/make_wheels.py"), folder], { stdio: "ignore" });
    return folder;
}

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    return port;
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

import { fileContent } from "../files";
import { uvFor } from "../host/controlUv";
import type { MachineFacts } from "../host/facts";
import { HostError } from "../host/host";
import type { Work } from "../resource";

/**
 * Calls what may need uv on the host. Only a host that says that it needs one and has none is called a second time: with the
 * control machine's, sent before, if that runs there; else it has to do without.
 */
export async function withUv<R>(
    root: string,
    machine: MachineFacts,
    work: Work,
    call: (uv: string | null) => Promise<R>,
): Promise<R> {
    try {
        return await call("ask");
    } catch (error) {
        if (!(error instanceof HostError) || error.report.code !== "no-uv") {
            throw error;
        }
    }
    const path = await uvFor(machine);
    const uv = path === undefined ? undefined : await fileContent(path);
    if (uv !== undefined) {
        work.progress("sends uv, which the host has not");
        await work.host.send(root, [uv], work.progress);
    }
    return call(uv?.sha256 ?? null);
}

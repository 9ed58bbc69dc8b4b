import { homedir } from "node:os";
import { join } from "node:path";

/** A folder of the project's cache on this machine, which scripts/lib/place.sh puts in the same place. Safe to remove. */
export function toolCache(name: string): string {
    return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "pulumi-sglang", name);
}

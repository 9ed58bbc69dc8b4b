import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Says as JSON what is declared to be below a root, by content; its arguments are the root, and files or folders besides. */
export const declaredScript = (): string => readFileSync(join(__dirname, "declared.py"), "utf8");

/** Everything below a root of this machine that is declared: path => mode, and digest or target. */
export function declaredIn(root: string): Record<string, string> {
    const said = execFileSync("python3", ["-I", "-S", "-B", "-c", declaredScript(), root], { encoding: "utf8" });
    return JSON.parse(said) as Record<string, string>;
}

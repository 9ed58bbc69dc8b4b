import { createHash } from "node:crypto";

/** The SHA256 fingerprint of the key in one line of a known_hosts file, as ssh prints it; undefined when it holds none. */
export function fingerprint(line: string): string | undefined {
    const key = line.split(/\s+/).find((word) => word.startsWith("AAAA"));
    if (key === undefined) {
        return undefined;
    }
    const digest = createHash("sha256").update(Buffer.from(key, "base64")).digest("base64");
    return `SHA256:${digest.replace(/=+$/, "")}`;
}

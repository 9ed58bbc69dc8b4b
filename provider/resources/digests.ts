import { createHash, createHmac } from "node:crypto";
import { canonical } from "../canonical";
import type { Recipe } from "../host/facts";

const SHORT = 12;

/** sha256, hex. */
export function sha256(bytes: string | Uint8Array): string {
    return createHash("sha256").update(bytes).digest("hex");
}

/** sha256 of a value's canonical JSON. */
export function digestOf(value: unknown): string {
    return sha256(canonical(value));
}

/** The form in which digests are shown and named: 12 hex digits. */
export function short(digest: string): string {
    return digest.slice(0, SHORT);
}

/** The id of the release that a recipe makes. It hashes what was asked for, so that a newer version of this tool restarts nobody. */
export function releaseId(recipe: Recipe): string {
    return short(digestOf(recipe));
}

/** The key of a managed base: same Python, same lock, same indexes, same base. */
export function baseKey(base: {
    python: string;
    requirements: string;
    indexUrl?: string;
    extraIndexUrl?: string[];
    findLinks?: string[];
    noDeps: boolean;
}): string {
    const { python, requirements, indexUrl, extraIndexUrl, findLinks, noDeps } = base;
    return short(digestOf({ python, requirements, indexUrl, extraIndexUrl, findLinks, noDeps }));
}

/** The id of an environment. Keyed, as it stands in clear state beside nothing that would tell the values. */
export function envId(salt: string, variables: Record<string, string>): string {
    return short(createHmac("sha256", Buffer.from(salt, "hex")).update(canonical(variables)).digest("hex"));
}

/** The id of a service's keys; "" when it has none. */
export function keysId(salt: string, keys: { apiKey?: string; adminApiKey?: string }): string {
    const given = Object.fromEntries(Object.entries(keys).filter(([, key]) => key !== undefined)) as Record<
        string,
        string
    >;
    return Object.keys(given).length === 0 ? "" : envId(salt, given);
}

/** A salt of 16 bytes, hex, from what the engine gives to check; the same in preview and up. */
export function saltFrom(seed: Uint8Array, purpose: string): string {
    return createHmac("sha256", seed).update(purpose).digest("hex").slice(0, 32);
}

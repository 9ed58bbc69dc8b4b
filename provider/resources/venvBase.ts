import type { VenvFacts } from "../host/facts";
import { baseKey, short } from "./digests";
import type { Base } from "./inputs";

type Managed = Exclude<Base, { adopt: string }>;

/** The key of a managed base. */
export function keyOf(base: Managed): string {
    return baseKey({ ...base, requirements: base.requirements.sha256 });
}

/** A declared base in the terms of what a host says of one. */
export function baseOf(base: Base): VenvFacts["base"] {
    return "adopt" in base
        ? { kind: "adopt", path: base.adopt, fingerprint: null }
        : { kind: "managed", key: keyOf(base) };
}

/** A base field by field, as it is shown. Of a managed one the host knows the key only; the fields are those that were declared with it. */
export function describeBase(live: VenvFacts["base"], declared: Base | undefined): Record<string, string> {
    if (live.kind === "adopt") {
        return { adopt: live.path };
    }
    if (declared === undefined || "adopt" in declared || keyOf(declared) !== live.key) {
        return { key: live.key };
    }
    const { python, requirements, indexUrl, extraIndexUrl, findLinks, noDeps } = declared;
    return {
        python,
        requirements: short(requirements.sha256),
        ...(indexUrl === undefined ? {} : { indexUrl }),
        ...(extraIndexUrl === undefined ? {} : { extraIndexUrl: extraIndexUrl.join(" ") }),
        ...(findLinks === undefined ? {} : { findLinks: findLinks.join(" ") }),
        noDeps: String(noDeps),
    };
}

/** A base as the host is told of it; its requirements are a content of the store. `uv`: see `withUv`. */
export function baseForHost(base: Base, uv: string | null): Record<string, unknown> {
    if ("adopt" in base) {
        return { adopt: base.adopt };
    }
    const { python, requirements, indexUrl, extraIndexUrl, findLinks, noDeps } = base;
    return {
        key: keyOf(base),
        python,
        requirements: requirements.sha256,
        indexUrl,
        extraIndexUrl,
        findLinks,
        noDeps,
        uv,
    };
}

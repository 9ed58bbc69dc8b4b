import { collisions, sharedGpus } from "./config/collisions";
import type { FleetContext } from "./config/context";
import { fleet } from "./config/fleet";
import { relativePaths } from "./config/hostPaths";
import { ConfigError, issuesOf, words } from "./config/issues";
import { missingFiles, missingSecrets } from "./config/outside";
import { plan } from "./config/plan";
import { missingFields, unknownNames } from "./config/references";
import type { FleetArgs } from "./fleet";

/** A stack's config, understood. */
export interface FleetPlan {
    /** What `Fleet` takes. */
    args: FleetArgs;
    /** What is legal and rarely meant, by host. */
    warnings: { host: string; message: string }[];
}

/**
 * Understands the value of `sglang-fleet:fleet`. Throws ConfigError with everything that is wrong, each by its path as it
 * is written in the stack's file. Looks at nothing but the value and what `context` offers.
 */
export function parseFleet(raw: unknown, context: FleetContext): FleetPlan {
    const parsed = fleet.safeParse(raw, { error: words });
    const issues = [
        ...(parsed.success ? [] : issuesOf(parsed.error)),
        ...unknownNames(raw),
        ...missingFields(raw),
        ...collisions(raw),
        ...relativePaths(raw),
        ...missingFiles(raw, context),
        ...missingSecrets(raw, context),
    ];
    if (!parsed.success || issues.length > 0) {
        throw new ConfigError(issues);
    }
    return { args: plan(parsed.data, context), warnings: sharedGpus(raw) };
}

export { ConfigError, type FleetContext };

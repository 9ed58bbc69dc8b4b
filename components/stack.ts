import { existsSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { ConfigError, type FleetContext, type FleetPlan, parseFleet } from "./config";

/** Not in the SDK's declarations, and the only way to tell a secret key from one in clear text. */
const { isConfigSecret } = pulumi.runtime as unknown as { isConfigSecret(key: string): boolean };

/** Understands the config of the stack that runs this program. What is wrong with it is shown without a stack trace. */
export function readFleet(namespace = "sglang-fleet"): FleetPlan {
    const config = new pulumi.Config(namespace);
    try {
        if (isConfigSecret(`${namespace}:fleet`)) {
            throw new ConfigError([{ path: [], message: buried }]);
        }
        return parseFleet(config.requireObject("fleet"), context(config, namespace));
    } catch (error) {
        throw error instanceof ConfigError ? new pulumi.RunError(error.message) : error;
    }
}

/** With a secret somewhere inside, the engine hands over the whole value in clear, and every part would land in the state as text. */
const buried =
    "has an encrypted value inside it; keep secrets in keys of their own (pulumi config set --secret NAME) and write { secret: NAME } here";

function context(config: pulumi.Config, namespace: string): FleetContext {
    const prefix = `${namespace}:`;
    const keys = Object.keys(pulumi.runtime.allConfig()).filter((key) => key.startsWith(prefix) && isConfigSecret(key));
    return {
        project: process.cwd(),
        secrets: keys.map((key) => key.slice(prefix.length)),
        secret: (name) => config.requireSecret(name),
        exists: existsSync,
    };
}

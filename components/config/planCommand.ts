import type { CommandArgs } from "../command/command";
import type { CommandConfig } from "./command";
import type { FleetContext } from "./context";

/** A command with the secrets that its variables refer to. */
export function planCommand(config: CommandConfig, context: FleetContext): CommandArgs {
    const env = Object.entries(config.env ?? {}).map(([name, value]) => [
        name,
        typeof value === "string" ? value : context.secret(value.secret),
    ]);
    return { run: config.run, on: config.on ?? "host", env: Object.fromEntries(env) };
}

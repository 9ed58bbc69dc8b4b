import type { local } from "@pulumi/command";
import * as pulumi from "@pulumi/pulumi";
import { type ConnectionArgs, sealed } from "../connection";
import { script } from "./shell";
import { environment, onHost, type Reached, stdin } from "./ssh";

/** A command of the user's own, before or after what this project does. */
export interface CommandArgs {
    /** A script for `sh`, or a list of words that no shell looks at. */
    run: string | string[];
    /** Where it runs: on the host (the default), or on the control machine in the project's directory. */
    on?: "host" | "control";
    /** Variables for it; default none. */
    env?: Record<string, pulumi.Input<string>>;
}

/**
 * Runs commands one after the other; each runs again when it, or one of `triggers`, has changed. They become
 * `command:local:Command`, and only then is that package loaded: nothing else needs its plugin.
 */
export function commands(
    name: string,
    list: CommandArgs[],
    connection: ConnectionArgs,
    triggers: pulumi.Input<unknown>[],
    opts: pulumi.CustomResourceOptions & { dependsOn: pulumi.Resource[] },
): pulumi.Resource[] {
    const made: pulumi.Resource[] = [];
    for (const [index, command] of list.entries()) {
        const { Command } = (require("@pulumi/command") as typeof import("@pulumi/command")).local;
        const before = made.slice(-1);
        made.push(
            new Command(`${name}-${index}`, inputs(command, connection, triggers), {
                ...opts,
                dependsOn: [...opts.dependsOn, ...before],
            }),
        );
    }
    return made;
}

function inputs(
    command: CommandArgs,
    connection: ConnectionArgs,
    triggers: pulumi.Input<unknown>[],
): local.CommandArgs {
    const text = script(command.run);
    const env = command.env ?? {};
    const again = { triggers: [text, ...triggers] };
    if (command.on === "control") {
        return { create: text, environment: env, ...again };
    }
    const { password, becomePassword, ...open } = connection;
    // Only whether there is a password shapes the command line, which would otherwise be one secret.
    const masked = { ...open, ...(password && { password: "" }), ...(becomePassword && { becomePassword: "" }) };
    return {
        create: pulumi.output(masked).apply((to) => onHost(to as Reached)),
        environment: environment(password),
        stdin: pulumi.all([sealed(connection), env]).apply(([to, values]) => stdin(to as Reached, text, values)),
        ...again,
    };
}

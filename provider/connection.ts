import { z } from "zod";

/**
 * How a host is reached. An input of every resource, never part of a diff: a rotated key restarts nothing.
 * Form, defaults and sources of each field are in the descriptions below; they feed the config reference.
 */
export const connection = z
    .strictObject({
        name: z.string().min(1).describe("The host's name in the stack; part of ids, names and messages."),
        type: z
            .enum(["ssh", "local"])
            .default("ssh")
            .describe("`local` runs the agent on the control machine, without SSH. Default: ssh."),
        host: z.string().min(1).optional().describe("Address, or an alias of the user's ssh config. Default: `name`."),
        user: z.string().min(1).optional().describe("Login name. Default: what ssh config says."),
        port: z.int().min(1).max(65535).optional().describe("Port of sshd. Default: what ssh config says, else 22."),
        identityFile: z
            .string()
            .min(1)
            .optional()
            .describe(
                "Private key file; tried before (and instead of) the agent's other keys. Default: what ssh config says.",
            ),
        password: z
            .string()
            .optional()
            .describe("Login password, secret; handed to ssh by askpass, never in argv. Default: none, keys only."),
        jump: z
            .array(z.string().min(1))
            .optional()
            .describe("Jump hosts in order, each `[user@]host[:port]` (ssh -J). Default: what ssh config says."),
        become: z
            .enum(["none", "sudo"])
            .default("none")
            .describe("`sudo`: the agent runs as root on the host. Default: none."),
        becomePassword: z
            .string()
            .optional()
            .describe("Password for sudo, secret; goes by stdin. Default: sudo must not ask for one."),
        python: z
            .string()
            .min(1)
            .optional()
            .describe("Python >= 3.8 for the agent. Default: the first good one of python3, python3.x on PATH."),
        knownHosts: z.string().min(1).optional().describe("known_hosts file to check against. Default: ssh's own."),
        sshConfig: z
            .string()
            .min(1)
            .optional()
            .describe("ssh config file (ssh -F). Default: ssh's own; `none` = none."),
        connectTimeout: z
            .int()
            .min(1)
            .max(600)
            .default(15)
            .describe("Seconds until a connection attempt counts as failed. Default: 15."),
        options: z
            .record(z.string(), z.string())
            .optional()
            .describe("More options of ssh_config(5), e.g. { ProxyCommand: … }. Default: none."),
    })
    .describe("How a host is reached.");

export type Connection = z.infer<typeof connection>;

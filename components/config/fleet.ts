import { z } from "zod";
import { name, placed } from "../../provider/resources/inputs/placed";
import { venvInputs } from "../../provider/resources/inputs/venv";
import { command } from "./command";
import { connection } from "./connection";
import { open } from "./open";
import { placement, service } from "./service";
import { described, strict } from "./strict";
import { text, texts } from "./text";
import { venv } from "./venv";

const root = text
    .optional()
    .describe(
        `${placed.root.description} Of a \`local\` host it may be relative to the project. Default: /opt/sglang-fleet.`,
    );

/** A machine and what stands on it. */
export const host = strict({
    connection: connection
        .optional()
        .describe("How it is reached; merged over `defaults.connection`. Default: by its name."),
    root,
    takeOver: z
        .boolean()
        .optional()
        .describe(
            "Whether what another stack has made there under the same names is taken over; it loses it. Default: false, it is refused.",
        ),
    before: z
        .array(command)
        .optional()
        .describe(
            "Commands that prepare the host, in order; everything on it waits for them. Default: those of `defaults`.",
        ),
    services: z
        .array(z.union([text, placement], { error: "expected the name of a service, or a mapping with `service`" }))
        .optional()
        .describe(
            "What it serves: names of services, or { service: NAME, … } with what differs here. Default: nothing.",
        ),
    venvs: texts
        .optional()
        .describe(
            "Venvs that are kept ready on it though no service runs from them yet; names under `venvs`. Default: none.",
        ),
}).meta({ id: "host", description: "A machine and what stands on it." });

/** What holds for all hosts and services that do not say otherwise. */
const defaults = strict({
    connection: connection.optional().describe("How hosts are reached. Default: what ssh config says of their names."),
    root,
    keep: open(venvInputs.shape.keep),
    before: z.array(command).optional().describe("Commands that prepare each host. Default: none."),
    service: service.optional().describe("Fields that services do not give themselves. Default: none."),
}).meta({ id: "defaults", description: "What holds for all hosts, venvs and services that do not say otherwise." });

const share = (issue: { input?: unknown }) =>
    `expected a number of hosts such as 2, or a share such as \`25%\`, found ${described(issue.input)}`;

/** In which order hosts are changed. */
const rollout = strict({
    canary: texts
        .optional()
        .describe("Hosts that are changed first; the others wait until these have succeeded. Default: none."),
    batch: z
        .union([z.int().min(1), z.string().regex(/^(100|[1-9]\d?)%$/, { error: share })], { error: share })
        .optional()
        .describe(
            "How many of the others are changed at a time: a number, or a share of them in percent, rounded up. Default: all.",
        ),
}).meta({ id: "rollout", description: "In which order hosts are changed. Default: all side by side." });

/** The whole value of the config key `sglang-fleet:fleet`. */
export const fleet = strict({
    defaults: defaults.optional().describe("What holds where nothing else is said. Default: nothing."),
    venvs: z.record(name, venv).optional().describe("Venvs by name. Default: none."),
    services: z.record(name, service).optional().describe("Services by name. Default: none."),
    hosts: z.record(name, host).describe("Hosts by name; the name is part of resource names, so it should stay."),
    rollout: rollout.optional().describe("Which hosts are changed before which. Default: all side by side."),
}).meta({
    title: "sglang-fleet:fleet",
    description: "GPU hosts that serve LLMs with SGLang: venvs, services, and the hosts that they stand on.",
});

export type FleetConfig = z.infer<typeof fleet>;
export type HostConfig = z.infer<typeof host>;
export type DefaultsConfig = z.infer<typeof defaults>;
export type RolloutConfig = z.infer<typeof rollout>;

import { z } from "zod";
import { flagProblems } from "../../provider/resources/argv";
import {
    drain as drainInputs,
    ready as readyInputs,
    sglangServiceInputs,
} from "../../provider/resources/inputs/sglangService";
import { checks } from "./checks";
import { command } from "./command";
import { duration } from "./duration";
import { open } from "./open";
import { secretRef } from "./secret";
import { described, strict } from "./strict";
import { scalar, text } from "./text";

const inputs = sglangServiceInputs.shape;

const drain = strict({
    argv: drainInputs.shape.argv,
    undo: drainInputs.shape.undo,
    timeout: duration.optional().describe("Time that each of them may take; duration. Default: 60s."),
}).meta({
    id: "drain",
    description: "What runs on the host before the old process is stopped, and how that is undone.",
});

const ready = strict({
    timeout: duration
        .optional()
        .describe("Time from start until it must be ready, else it is rolled back; duration. Default: 20m."),
    stable: duration
        .optional()
        .describe("Time that it must stay alive and ready before it counts; duration. Default: 10s."),
    token: open(readyInputs.shape.token),
    path: readyInputs.shape.path,
}).meta({ id: "ready", description: "When a new process counts as serving." });

const limit = z
    .union([z.int().min(0), z.literal("infinity")], {
        error: (issue) => `expected a whole number or \`infinity\`, found ${described(issue.input)}`,
    })
    .optional();

const limits = strict({
    nofile: limit.describe("Open files. Default: 1048576."),
    memlock: limit.describe("Bytes of locked memory. Default: infinity."),
    stack: limit.describe("Bytes of stack. Default: 67108864."),
    core: limit.describe("Bytes of a core dump. Default: the host's."),
    nproc: limit.describe("Processes of the user. Default: the host's."),
}).meta({
    id: "limits",
    description: "Resource limits of the process: numbers, or `infinity`; where the host allows it.",
});

const variable = z.union([secretRef, scalar, z.null()], {
    error: (issue) =>
        `expected a text, a whole number, null or { secret: NAME }, found ${described(issue.input)}; put it in quotes to say which text is meant`,
});

const key = z.union([z.literal("generate"), secretRef], {
    error: "expected `generate` or a reference { secret: NAME }; a key has no place in clear text in this file",
});

/** Fields of a service, each of which may also stand in `defaults.service` and in a host's entry. */
const serviceFields = {
    venv: text
        .optional()
        .describe("The venv that it runs from; a name under `venvs`. Default: that of `defaults.service`."),
    model: text
        .optional()
        .describe("Model: an absolute path on the host, or a hub id. Default: that of `defaults.service`."),
    servedModelName: inputs.servedModelName,
    port: open(inputs.port).describe(`${inputs.port.description} Default: that of \`defaults.service\`.`),
    address: open(inputs.address),
    gpus: z
        .array(z.int().min(0))
        .optional()
        .describe("GPUs that it sees, by number (CUDA_VISIBLE_DEVICES); [] = none. Default: all."),
    shareGpus: open(inputs.shareGpus),
    takeOverPort: open(inputs.takeOverPort),
    env: z
        .record(z.string(), variable)
        .optional()
        .describe(
            "Variables by name: text, whole number, { secret: NAME }, or null to take out one that was inherited. `{site}` = site-packages of the release. Default: none.",
        ),
    module: open(inputs.module),
    flags: open(inputs.flags).superRefine((flags, context) => {
        for (const { path, text: message } of flagProblems({ flags: flags ?? {}, extraArgs: [] })) {
            context.addIssue({ code: "custom", path: path.slice(1), message });
        }
    }),
    extraArgs: open(inputs.extraArgs),
    user: inputs.user,
    group: inputs.group,
    workingDirectory: text.optional().describe(`${inputs.workingDirectory.description}`),
    limits: limits.optional().describe("Resource limits. Default: those of each."),
    supervisor: open(inputs.supervisor),
    log: text.optional().describe(`${inputs.log.description}`),
    stopTimeout: duration.optional().describe("Time between SIGTERM and SIGKILL; duration. Default: 60s."),
    drain: drain.optional().describe("What runs before the old process is stopped. Default: nothing."),
    ready: ready
        .optional()
        .describe("When the new process counts as serving. Default: after one token, stable for 10 s, within 20m."),
    checks: checks
        .optional()
        .describe("What a release must pass, besides the venv's own `checks`. Default: nothing more."),
    apiKey: key
        .optional()
        .describe(
            "Key that clients must send: `generate` (needs Pulumi's `random` plugin) or { secret: NAME }. Default: none.",
        ),
    adminApiKey: key.optional().describe("Key for administrative routes, in the same form. Default: none."),
    after: z
        .array(command)
        .optional()
        .describe("Commands that run once a change of this service has succeeded, in order. Default: none."),
};

/** A service as it is declared once for all hosts. */
export const service = strict(serviceFields).meta({
    id: "service",
    description: "One SGLang server, as hosts refer to it by name.",
});

/** A service as one host has it: its name, and what differs there. */
export const placement = strict({
    service: text.describe("The service; a name under `services`."),
    as: text.optional().describe("Its name on this host, when it stands there more than once. Default: `service`."),
    ...serviceFields,
}).meta({ id: "placement", description: "A service on one host, with what differs there: any field of a service." });

export type ServiceConfig = z.infer<typeof service>;
export type PlacementConfig = z.infer<typeof placement>;

import { z } from "zod";
import { hostPath, name, placed } from "./placed";

/** A launch flag's value: text or number; true = the bare flag; false = left out; a list = its values after one flag. */
export const flagValue = z.union([z.string(), z.number(), z.boolean(), z.array(z.union([z.string(), z.number()]))]);

const argument = z.string().regex(/^[^\0]*$/, "has a NUL byte, which no argument can hold");
const argv = z.array(argument).min(1);
const seconds = z.number().min(0).max(86_400);

/** Cleans up after itself: `undo` runs when the activation does not happen after all. */
export const drain = z
    .strictObject({
        argv: argv.describe(
            "Command on the host that takes the server out of use before it is stopped; argv, no shell.",
        ),
        undo: argv
            .optional()
            .describe("Command that puts it back into use when the change is not made. Default: none."),
        timeout: seconds.default(60).describe("Seconds that each of them may take. Default: 60."),
    })
    .describe("What is run before the old process is stopped.");

export const ready = z
    .strictObject({
        timeout: seconds
            .default(1200)
            .describe("Seconds from start until it must be ready, else it is rolled back. Default: 1200."),
        stable: seconds
            .default(10)
            .describe("Seconds that it must stay alive and ready before it counts. Default: 10."),
        token: z.boolean().default(true).describe("Whether it must generate one token. Default: true."),
        path: z
            .string()
            .regex(/^\//, "expected a path of the server, like /health")
            .optional()
            .describe("Route that says ready with 200. Default: /ready where there is one, else /health."),
    })
    .describe("When the new process counts as serving.");

export const gates = z
    .strictObject({
        imports: z
            .array(z.string().min(1))
            .default([])
            .describe("Modules that must import, besides the launch module and the patched ones. Default: none."),
        asserts: z
            .array(z.string().min(1))
            .default([])
            .describe("Python expressions that must be true. Default: none."),
        acceptLibraries: z
            .array(z.string().min(1))
            .default([])
            .describe(
                "What the gate `libraries` (and `laid`, by distribution) only warns of: sonames (`libmpi.so.40`), files below site-packages (`deep_gemm/*.so`) or distributions; `*` and `?` stand for other letters. Default: none.",
            ),
        flags: z
            .boolean()
            .default(true)
            .describe("Check the launch flags against the release's own parser. Default: true."),
        timeout: seconds.default(600).describe("Seconds that all gates together may take. Default: 600."),
    })
    .describe("What the release must pass, in the service's own environment, before anything that runs is touched.");

export const sglangServiceInputs = z
    .strictObject({
        ...placed,
        name: name.describe("Name of the service on the host; its unit is `sglang-<name>.service`."),
        venv: name.describe("The venv (by its name on the host) that it runs from."),
        release: z
            .string()
            .regex(/^[0-9a-f]{12}$/, "expected a release of a Venv (12 hex digits)")
            .describe("`release` of the Venv."),
        env: z.string().min(1).describe("`digest` of the EnvVars."),
        module: z
            .string()
            .min(1)
            .default("sglang.launch_server")
            .describe(
                "Module that is run with `python -m`. It gets `--model-path`, `--served-model-name` (if set), `--host` and `--port`, then `flags` by name, then `extraArgs`, and `--config FILE` with the keys if there are any. " +
                    "Default: sglang.launch_server.",
            ),
        model: z.string().min(1).describe("Model: an absolute path on the host, or a hub id."),
        servedModelName: z
            .string()
            .min(1)
            .optional()
            .describe("Name of the model in the API. Default: SGLang's own (the model)."),
        port: z.int().min(1).max(65535).describe("TCP port that the server listens on."),
        address: z
            .string()
            .min(1)
            .default("127.0.0.1")
            .describe("Address that the server listens on. Default: 127.0.0.1."),
        flags: z
            .record(z.string().regex(/^(--)?[A-Za-z][A-Za-z0-9_-]*$/, "expected the name of a launch flag"), flagValue)
            .default({})
            .describe("More launch flags by name, `tp-size` or `tp_size`. Default: none."),
        extraArgs: z.array(argument).default([]).describe("Further arguments, put last as they are. Default: none."),
        user: z
            .string()
            .min(1)
            .optional()
            .describe("User that it runs as. Default: the user of the connection (root with sudo)."),
        group: z.string().min(1).optional().describe("Group that it runs as. Default: the user's own."),
        workingDirectory: hostPath
            .optional()
            .describe("Directory that it runs in. Default: the service's own below `root`."),
        limits: z
            .partialRecord(
                z.enum(["nofile", "memlock", "stack", "core", "nproc"]),
                z.union([z.int().min(0), z.literal("infinity")]),
            )
            .default({})
            .describe("Resource limits: number or `infinity`. Default: the supervisor's."),
        supervisor: z
            .enum(["auto", "systemd", "process"])
            .default("auto")
            .describe(
                "What keeps it running. `auto`: systemd where that is PID 1, else `process`: one of our own, which starts it again " +
                    "when it fails, but not after a reboot.",
            ),
        log: hostPath
            .optional()
            .describe("Log file on the host. Default: the journal, or server.log of the service with `process`."),
        shareGpus: z
            .boolean()
            .default(false)
            .describe(
                "Whether processes that are not its own may hold the GPUs of its CUDA_VISIBLE_DEVICES; else that is an error before anything is stopped. Default: false.",
            ),
        takeOverPort: z
            .boolean()
            .default(false)
            .describe(
                "Whether an SGLang server that somebody started by hand and that holds the port is stopped for this one; it is started again as it was when this one fails. A unit of systemd, a container and another user's server (without root) are never taken over. Default: false.",
            ),
        stopTimeout: seconds.default(60).describe("Seconds between SIGTERM and SIGKILL. Default: 60."),
        drain: drain.optional().describe("What is run before the old process is stopped. Default: nothing."),
        ready: ready.prefault({}).describe("When the new process counts as serving."),
        gates: gates.prefault({}).describe("What the release must pass first."),
        apiKey: z
            .string()
            .min(1)
            .optional()
            .describe("Key that clients must send, secret; handed over by file, never in argv. Default: none."),
        adminApiKey: z
            .string()
            .min(1)
            .optional()
            .describe("Key for administrative routes, secret; handed over by file. Default: none."),
    })
    .describe(
        "One SGLang server: which release it runs, with what environment and arguments, kept by which supervisor.",
    );

export type FlagValue = z.infer<typeof flagValue>;
export type SglangServiceInputs = z.infer<typeof sglangServiceInputs>;

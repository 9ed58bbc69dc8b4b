import {
    existsSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    rmSync,
    symlinkSync,
    unlinkSync,
    writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expectExit, type Outcome, type Started, start } from "./command";
import { type Plan, plan } from "./plan";
import { endProcessesOf } from "./processes";
import { screen } from "./terminal";

/** The clone that is tested. */
export const project = resolve(__dirname, "../../..");

const PROGRAM = [
    "agent",
    "components",
    "index.ts",
    "node_modules",
    "package.json",
    "provider",
    "dist",
    "tsconfig.json",
];
const PASSPHRASE = "correct horse";

/**
 * A throw-away project: our own program (linked) or another, a stack of its own in a file backend, a home of its own
 * for the engine, and `host/`, where a `local` host may put its root.
 */
export class Workspace {
    readonly folder = mkdtempSync(join(tmpdir(), "engine-test-"));
    readonly host = join(this.folder, "host");
    readonly stack = "t";
    /** Everything that each command printed, for a search after secrets. */
    readonly outputs: string[] = [];
    private readonly env: NodeJS.ProcessEnv;

    private constructor(env: NodeJS.ProcessEnv) {
        this.env = { ...cleanEnvironment(), ...this.engineEnvironment(), ...env };
    }

    /** Makes one; `env` is added to each command's environment. */
    static async make(env: NodeJS.ProcessEnv = {}): Promise<Workspace> {
        const made = new Workspace(env);
        for (const name of ["state", "home", "host"]) {
            mkdirSync(join(made.folder, name));
        }
        for (const name of PROGRAM.filter((one) => existsSync(join(project, one)))) {
            symlinkSync(join(project, name), join(made.folder, name));
        }
        made.write("Pulumi.yaml", readFileSync(join(project, "Pulumi.yaml"), "utf8"));
        expectExit(await made.pulumi("stack", "init", made.stack));
        return made;
    }

    private engineEnvironment(): NodeJS.ProcessEnv {
        return {
            PULUMI_HOME: join(this.folder, "home"),
            PULUMI_BACKEND_URL: `file://${join(this.folder, "state")}`,
            PULUMI_CONFIG_PASSPHRASE: PASSPHRASE,
            PULUMI_SKIP_UPDATE_CHECK: "true",
            PULUMI_CONTINUE_ON_ERROR: "true",
        };
    }

    /** Writes a file of the workspace, e.g. `patches/answer.diff`; an existing link is replaced, never written through. */
    write(path: string, content: string | Buffer): void {
        const full = join(this.folder, path);
        mkdirSync(dirname(full), { recursive: true });
        rmSync(full, { recursive: true, force: true });
        writeFileSync(full, content);
    }

    /** Adds to the environment of the commands that follow; undefined takes a variable out. */
    set(env: NodeJS.ProcessEnv): void {
        Object.assign(this.env, env);
    }

    /** Lets the engine find another provider: a folder of the project with a `pulumi-resource-sglang`. */
    provider(folder: string): void {
        const link = join(this.folder, "provider");
        unlinkSync(link);
        symlinkSync(join(project, folder), link);
    }

    /** Sets the config key `sglang-fleet:fleet`; the other keys stay. */
    fleet(value: unknown): void {
        const file = `Pulumi.${this.stack}.yaml`;
        const kept = existsSync(join(this.folder, file)) ? readFileSync(join(this.folder, file), "utf8") : "";
        const salt = /^encryptionsalt: .*$/m.exec(kept)?.[0] ?? "";
        const secrets = [...kept.matchAll(/^ {2}(sglang-fleet:\S+):\n {4}secure: (\S+)$/gm)];
        const lines = secrets.map(([, key, secure]) => `  ${key}:\n    secure: ${secure}`);
        this.write(file, [salt, "config:", ...lines, `  sglang-fleet:fleet: ${JSON.stringify(value)}`, ""].join("\n"));
    }

    /** Sets a secret config key, e.g. `hfToken`. */
    async secret(key: string, value: string): Promise<void> {
        expectExit(await this.pulumi("config", "set", "--secret", `sglang-fleet:${key}`, "--", value));
    }

    /** Starts `pulumi` with these arguments on this stack. */
    start(...args: string[]): Started {
        const named =
            ["stack", "config"].includes(args[0] as string) && args[1] === "init" ? [] : ["--stack", this.stack];
        const command = start(
            ["pulumi", "--non-interactive", ...args.slice(0, 1), ...named, ...args.slice(1)],
            this.folder,
            this.env,
        );
        command.ended.then(
            (end) => this.outputs.push(end.output),
            () => undefined,
        );
        return command;
    }

    /** Runs `pulumi` with these arguments on this stack. */
    pulumi(...args: string[]): Promise<Outcome> {
        return this.start(...args).ended;
    }

    /** What a person sees who runs `pulumi` with these arguments in a terminal of so many columns; see `screen`. */
    screen(columns: number, command: string, ...args: string[]): Promise<string> {
        const folder = join(this.folder, "terminal");
        const argv = ["pulumi", command, "--stack", this.stack, ...args];
        return screen(columns, argv, { folder, cwd: this.folder, env: this.env });
    }

    /** `pulumi preview --json`: what would change. */
    async plan(...args: string[]): Promise<Plan> {
        return plan(expectExit(await this.pulumi("preview", "--json", ...args)));
    }

    /** `pulumi up`. */
    up(...args: string[]): Promise<Outcome> {
        return this.pulumi("up", "--yes", "--skip-preview", ...args);
    }

    /** `pulumi destroy`. */
    destroy(...args: string[]): Promise<Outcome> {
        return this.pulumi("destroy", "--yes", "--skip-preview", ...args);
    }

    /** The resources in the state, by name. */
    async resources(): Promise<Record<string, Kept>> {
        const state = JSON.parse(expectExit(await this.pulumi("stack", "export")).stdout) as {
            deployment: { resources?: Kept[] };
        };
        return Object.fromEntries(
            (state.deployment.resources ?? []).map((one) => [one.urn.slice(one.urn.lastIndexOf("::") + 2), one]),
        );
    }

    /** The stack's outputs. */
    async stackOutputs(): Promise<Record<string, unknown>> {
        return JSON.parse(expectExit(await this.pulumi("stack", "output", "--json")).stdout) as Record<string, unknown>;
    }

    /** Files of the file backend that contain a text; logs of the engine included. */
    filesWith(text: string): string[] {
        const hits: string[] = [];
        for (const area of ["state", "home"]) {
            for (const entry of readdirSync(join(this.folder, area), { recursive: true, withFileTypes: true })) {
                const path = join(entry.parentPath, entry.name);
                if (entry.isFile() && readFileSync(path).includes(text)) {
                    hits.push(path);
                }
            }
        }
        return hits;
    }

    /** Ends every process of this workspace and removes it. */
    async close(): Promise<void> {
        await endProcessesOf(this.folder);
        rmSync(this.folder, { recursive: true, force: true });
    }
}

/** One resource of the state. */
export interface Kept {
    urn: string;
    type: string;
    id?: string;
    /** When the engine last wrote it. */
    created?: string;
    modified?: string;
    inputs: Record<string, unknown>;
    outputs: Record<string, unknown>;
}

/** The caller's environment without what would reach into a stack: a user's own backend, passphrase or debug flags. */
function cleanEnvironment(): NodeJS.ProcessEnv {
    const kept = Object.entries(process.env).filter(
        ([name]) =>
            !/^(PULUMI_|SGLANG_|STANDIN_|NODE_TEST_CONTEXT$|PYTHONDONTWRITEBYTECODE$|PYTHONPATH$|NODE_OPTIONS$)/.test(
                name,
            ),
    );
    return Object.fromEntries(kept);
}

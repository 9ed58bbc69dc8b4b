import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Connection, connection } from "../../provider/connection";

const run = promisify(execFile);
const tool = join(__dirname, "hosts");
const large = { maxBuffer: 64 * 1024 * 1024 };

/** Of every user on the hosts: root, user-plain, user-noisy, user-tcsh, user-fish, user-sudo and user-password. */
export const hostPassword = "correct horse";

/** What a host is made of. */
export interface TestHostOptions {
    /** `systemd`, or `container`: no systemd, sshd is all that runs. Default: `systemd`. */
    kind?: "systemd" | "container";
    /** Venv of this machine, shared below a layer of the host's own at /opt/venv. Default: SGLANG_TEST_VENV, else none. */
    venv?: string;
    /** Folder of this machine at /opt/wheels, read-only. Default: none. */
    wheels?: string;
}

/** How a command on a host ended. */
export interface HostAnswer {
    exit: number;
    stdout: string;
    stderr: string;
}

interface Description {
    name: string;
    address: string;
    kind: "systemd" | "container";
    machineId: string;
    key: string;
    knownHosts: string;
    sshConfig: string;
}

let made = 0;

/** Why no test host can run here, in sentences; undefined when they can. For `{ skip: whyNoHosts() }`. */
export function whyNoHosts(): string | undefined {
    const checked = spawnSync(tool, ["check"], { encoding: "utf8" });
    return checked.status === 0 ? undefined : (checked.stderr.trim() || String(checked.error)).replaceAll("\n", " ");
}

/** One real host on this machine. It ends with `down`, and at the latest with the process that made it. */
export class TestHost {
    readonly name: string;
    readonly address: string;
    readonly machineId: string;
    /** Private key that logs in as every user. */
    readonly keyPath: string;
    readonly knownHostsPath: string;
    /** For `ssh -F`; knows the host by its name. */
    readonly sshConfigPath: string;

    private constructor(description: Description) {
        this.name = description.name;
        this.address = description.address;
        this.machineId = description.machineId;
        this.keyPath = description.key;
        this.knownHostsPath = description.knownHosts;
        this.sshConfigPath = description.sshConfig;
    }

    /** Boots hosts side by side, each as its options say; resolves when all can be logged in to. */
    static up(...hosts: TestHostOptions[]): Promise<TestHost[]> {
        return Promise.all(hosts.map((options) => TestHost.boot(options)));
    }

    private static async boot(options: TestHostOptions): Promise<TestHost> {
        const name = `t${process.pid.toString(36)}-${(made++).toString(36)}`;
        const args = ["up", name, "--while", String(process.pid), "--kind", options.kind ?? "systemd"];
        if (options.venv) args.push("--venv", options.venv);
        if (options.wheels) args.push("--wheels", options.wheels);
        const { stdout } = await run(tool, args, large);
        return new TestHost(JSON.parse(stdout));
    }

    /** Ends hosts, side by side; nothing of them stays. Undefined ones are passed over, for `after` of a boot that failed. */
    static async down(...hosts: (TestHost | undefined)[]): Promise<void> {
        await Promise.all(hosts.map((host) => host?.hosts("down")));
    }

    /** How the provider reaches it; `changes` are laid over (another user, become, …). */
    connection(changes: Partial<Connection> = {}): Connection {
        return connection.parse({
            name: this.name,
            host: this.address,
            user: "root",
            identityFile: this.keyPath,
            knownHosts: this.knownHostsPath,
            sshConfig: "none",
            ...changes,
        });
    }

    /** Runs a line of the user's shell on the host over SSH; never throws for how it ends. `patience`: seconds to connect within. */
    ssh(line: string, options: { user?: string; input?: string; patience?: number } = {}): Promise<HostAnswer> {
        const args = [
            "-F",
            this.sshConfigPath,
            "-l",
            options.user ?? "root",
            "-o",
            `ConnectTimeout=${options.patience ?? 10}`,
            this.name,
            line,
        ];
        return answer("ssh", args, options.input);
    }

    /** Runs a command as root on the host, not over the network: also while the link is cut. */
    exec(...argv: string[]): Promise<HostAnswer> {
        return answer(tool, ["exec", this.name, ...argv]);
    }

    /** Packets to and from the host vanish; neither side is told. */
    cutLink(): Promise<void> {
        return this.hosts("link", "down");
    }

    restoreLink(): Promise<void> {
        return this.hosts("link", "up");
    }

    /** Delay each way in milliseconds, and loss in percent; 0, 0 ends both. */
    slow(milliseconds: number, loss: number): Promise<void> {
        return this.hosts("slow", String(milliseconds), String(loss));
    }

    /** Resolves when it can be logged in to again. `hard`: as if the plug were pulled for a moment. */
    reboot(options: { hard?: boolean } = {}): Promise<void> {
        return this.hosts("reboot", ...(options.hard ? ["--hard"] : []));
    }

    /** Pulls the plug. */
    powerOff(): Promise<void> {
        return this.hosts("power", "off");
    }

    powerOn(): Promise<void> {
        return this.hosts("power", "on");
    }

    /** New SSH host keys, as if another machine had the address; `knownHostsPath` then knows them. */
    rekey(): Promise<void> {
        return this.hosts("rekey");
    }

    private async hosts(verb: string, ...args: string[]): Promise<void> {
        await run(tool, [verb, this.name, ...args], large);
    }
}

function answer(command: string, args: string[], input?: string): Promise<HostAnswer> {
    return new Promise((resolve, reject) => {
        const child = execFile(command, args, large, (error, stdout, stderr) => {
            if (error && typeof error.code !== "number") return reject(error);
            resolve({ exit: error ? Number(error.code) : 0, stdout, stderr });
        });
        child.stdin?.end(input ?? "");
    });
}

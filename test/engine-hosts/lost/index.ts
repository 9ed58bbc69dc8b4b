import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { connection } from "../../../provider/connection";
import { controlPath } from "../../../provider/host/control";
import { Workspace } from "../../engine/harness";
import { TestHost } from "../../hosts/testHost";
import { reached } from "../harness";
import { type Given, login, notAnswering, notReadable, notTrusted, sh, unreachable, type Way } from "./ways";

export type { Way } from "./ways";

const run = promisify(execFile);

/** One stack of hosts on four machines, each of which can be lost in another way, and one that stays. */
export class LosableHosts {
    readonly ways: Way[];

    private constructor(
        readonly workspace: Workspace,
        private readonly given: Given,
    ) {
        this.ways = [unreachable, notTrusted, notAnswering, notReadable].flatMap((some) => some(given));
    }

    static async up(): Promise<LosableHosts> {
        const workspace = await Workspace.make();
        const [shared, off, dark, rekeyed] = await TestHost.up({}, {}, {}, {});
        const { folder } = workspace;
        const root = (name: string) => `/srv/${name}`;
        const hosts = new LosableHosts(workspace, { folder, shared, off, dark, rekeyed, root } as Given);
        await workspace.secret("login", login);
        await Promise.all(hosts.machines.map((host) => sh(host, "python3 -m venv --without-pip /srv/base")));
        // All names log in at once, and sshd drops some of so many by default.
        await sh(
            hosts.given.shared,
            "echo MaxStartups 100 >>/etc/ssh/sshd_config.d/test-hosts.conf; systemctl reload ssh",
        );
        for (const { name, user, prepare } of hosts.ways) {
            await (user && sh(hosts.given.shared, `install -d -o ${user} ${root(name)}`));
            await prepare?.();
        }
        return hosts;
    }

    /** Writes the config: every host with one venv. `keep`: releases that each keeps. */
    declare(keep: number): void {
        const venvs = ["v"];
        this.workspace.fleet({
            venvs: { v: { base: { adopt: "/srv/base" }, keep } },
            hosts: {
                ...Object.fromEntries(
                    this.ways.map((way) => [
                        way.name,
                        { connection: this.connection(way), root: this.root(way), venvs },
                    ]),
                ),
                here: { connection: reached(this.given.shared), root: this.given.root("here"), venvs },
            },
        });
    }

    root({ name }: Way): string {
        return this.given.root(name);
    }

    /** Whether a path is there on the machine that most names share. */
    async has(path: string): Promise<boolean> {
        return (await this.given.shared.exec("test", "-e", path)).exit === 0;
    }

    /** Loses all; a shared connection that is still open would hide it. */
    async lose(): Promise<void> {
        await this.disconnect();
        for (const { lose } of this.ways) {
            await lose();
        }
    }

    async down(): Promise<void> {
        await this.disconnect();
        await TestHost.down(...this.machines);
        await this.workspace.close();
    }

    private get machines(): TestHost[] {
        const { shared, off, dark, rekeyed } = this.given;
        return [shared, off, dark, rekeyed];
    }

    private connection(way: Way): Record<string, unknown> {
        const all = reached(this.given[way.on ?? "shared"], { user: way.user ?? "root", ...way.connection });
        return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    }

    private async disconnect(): Promise<void> {
        const every = this.ways.map((way) => {
            const { password: _, becomePassword: __, ...plain } = this.connection(way);
            return connection.parse({ ...plain, name: way.name });
        });
        for (const one of [...every, ...this.machines.map((host) => host.connection())]) {
            await run("ssh", ["-O", "exit", "-o", `ControlPath=${controlPath(one)}`, "any"]).catch(() => undefined);
        }
    }
}

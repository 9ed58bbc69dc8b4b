import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { answerDiff, bare, completion, declaredIn, expectExit, rootOf, server, standinWheels } from "./harness";

/** The five kinds of resource, by the rest of their names. */
const KINDS = ["tiny-overlays", "tiny-patches", "tiny", "chat-env", "chat"] as const;
type Kind = (typeof KINDS)[number];

/** What a program says of its five resources: the first word of each name, and the names that it had before. */
interface Naming {
    names: Partial<Record<Kind, string>>;
    /** Whether they stand in a component. */
    group?: boolean;
    /** Whether a resource says by an alias what it was: this naming. */
    before?: Naming;
}

/** Names in the program and what they stand for on the host. Each test goes on where the one before ended. */
describe("a server and all that it is made of, under other names", () => {
    const on = bare();
    let whole: Record<string, string>;
    let pid: number;
    let now: Naming = { names: {} };

    const nameOf = ({ names }: Naming, kind: Kind) => `${names[kind] ?? "here"}-${kind}`;

    /** Who owns what may change; what there is may not. */
    const things = () =>
        Object.fromEntries(
            Object.entries(declaredIn(rootOf(on.workspace))).filter(
                ([path]) => !/\/(overlays|patches|env)\.json$/.test(path),
            ),
        );

    function declare(naming: Naming): void {
        const root = rootOf(on.workspace);
        const options = Object.fromEntries(KINDS.map((kind) => [kind, optionsOf(naming, kind)]));
        now = naming;
        on.workspace.write(
            "index.ts",
            `import * as pulumi from "@pulumi/pulumi";
            import { EnvVars, PackageOverlay, SglangService, SourcePatch, Venv } from "./components";
            class Group extends pulumi.ComponentResource {
                constructor(name: string) { super("test:index:Group", name); }
            }
            const parent = ${naming.group ? 'new Group("group")' : "undefined"};
            const at = { connection: { name: "here", type: "local" as const }, root: ${JSON.stringify(root)} };
            const file = (path: string) => new pulumi.asset.FileAsset(path);
            const overlays = new PackageOverlay(${options["tiny-overlays"]?.[0]}, {
                ...at, venv: "tiny", base: { python: "3.11" },
                overlays: [{ from: { wheel: file("wheels/sgl_kernel-0.4.0+standin-py3-none-any.whl") } }],
            }, ${options["tiny-overlays"]?.[1]});
            const patches = new SourcePatch(${options["tiny-patches"]?.[0]}, {
                ...at, venv: "tiny", patches: [{ module: "sglang.srt.answer", diff: file("patches/answer.diff") }],
            }, ${options["tiny-patches"]?.[1]});
            const venv = new Venv(${options.tiny?.[0]}, {
                ...at, name: "tiny",
                base: { python: "3.11", requirements: file("locks/standin.txt"), findLinks: [${JSON.stringify(join(on.workspace.folder, "wheels"))}] },
                overlays: overlays.digest, packages: overlays.packages, patches: patches.digest, files: patches.files,
            }, ${options.tiny?.[1]});
            const env = new EnvVars(${options["chat-env"]?.[0]}, {
                ...at, service: "chat", variables: { GREETING: "hello" },
            }, ${options["chat-env"]?.[1]});
            new SglangService(${options.chat?.[0]}, {
                ...at, name: "chat", venv: "tiny", release: venv.release, env: env.digest, supervisor: "process",
                model: ${JSON.stringify(join(on.workspace.folder, "model"))}, port: ${on.port},
                ready: { timeout: 60, stable: 1 }, stopTimeout: 10,
            }, ${options.chat?.[1]});`,
        );
    }

    /** Text of a resource's name and of its options. */
    function optionsOf(naming: Naming, kind: Kind): [string, string] {
        const { before } = naming;
        const parent = before?.group
            ? '"urn:pulumi:t::sglang-fleet::test:index:Group::group"'
            : "pulumi.rootStackResource";
        const alias = before && `{ name: ${JSON.stringify(nameOf(before, kind))}, parent: ${parent} }`;
        return [JSON.stringify(nameOf(naming, kind)), `{ parent, aliases: [${alias ?? ""}] }`];
    }

    /** What a preview would do, and what it says of it. */
    async function planned(): Promise<{ changes: Record<string, string>; messages: string }> {
        const { changes, messages } = await on.workspace.plan();
        const done = Object.entries(changes).filter(([, op]) => op !== "refresh");
        return { changes: Object.fromEntries(done), messages: messages.join("\n").replaceAll(/\s+/g, " ") };
    }

    /** Nothing that is on the host is another one now. */
    async function unmoved(): Promise<void> {
        assert.deepEqual(things(), whole);
        assert.equal(server(on.workspace), pid);
        assert.equal(await completion(on.port), "Lyon.");
    }

    before(async () => {
        const { workspace } = on;
        standinWheels(workspace);
        workspace.fleet({ hosts: {} });
        workspace.write("locks/standin.txt", "--no-index\nsglang==0.5.23+standin\npybase64==1.4.2+standin\n");
        workspace.write("patches/answer.diff", answerDiff("Lyon."));
        workspace.write("model/config.json", "{}");
        declare(now);
        expectExit(await workspace.up());
        whole = things();
        pid = server(workspace);
    });

    for (const kind of KINDS) {
        it(`${kind} without an alias: preview says that it is kept, up keeps it and restarts nothing`, async () => {
            const old = nameOf(now, kind);
            declare({ names: { ...now.names, [kind]: "new" } });
            const { changes, messages } = await planned();
            assert.deepEqual(changes, { [old]: "delete", [nameOf(now, kind)]: "create" });
            assert.match(messages, new RegExp(`is there already: it was made as \\S+::${old}, and is kept`));
            expectExit(await on.workspace.up());
            await unmoved();
        });
    }

    it("all with an alias: nothing is planned, and nothing is done", async () => {
        const names = Object.fromEntries(KINDS.map((kind) => [kind, "third"]));
        declare({ names, before: now });
        assert.deepEqual((await planned()).changes, {});
        expectExit(await on.workspace.up());
        await unmoved();
    });

    it("all into a component without an alias: kept, and nothing restarted", async () => {
        declare({ names: now.names, group: true });
        const { changes } = await planned();
        // A name stands for the last of its steps: made below the component, then let go beside it.
        const steps = KINDS.map((kind) => [nameOf(now, kind), "delete"]);
        assert.deepEqual(changes, { ...Object.fromEntries(steps), group: "create" });
        expectExit(await on.workspace.up());
        await unmoved();
    });

    it("all out of the component with an alias: nothing is planned but the component's end", async () => {
        declare({ names: now.names, before: now });
        assert.deepEqual((await planned()).changes, { group: "delete" });
        expectExit(await on.workspace.up());
        await unmoved();
    });

    it("all at once without an alias, and with a change: that is made once, and the rest is kept", async () => {
        on.workspace.write("patches/answer.diff", answerDiff("Nice."));
        declare({ names: {} });
        expectExit(await on.workspace.up());
        assert.equal(await completion(on.port), "Nice.");
        server(on.workspace);
        expectExit(await on.workspace.pulumi("preview", "--expect-no-changes"));
        expectExit(await on.workspace.destroy());
        assert.equal(existsSync(rootOf(on.workspace)), false);
    });
});

/** Overlays of a donor through the provider's gRPC face, by real agents on this machine, each with a root of its own. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { connectHost } from "../../provider/host/connect";
import { HostError } from "../../provider/host/host";
import { donate } from "../engine/harness/donor";
import { type Provider, refused, type Values } from "./harness";
import { serve } from "./serve";

let folder: string;
let venv: string;
let provider: Provider;
let cache: string | undefined;
/** What agents were asked: host, operation, arguments. */
let calls: { host: string; op: string; args: Values }[];
/** Hosts that are off. */
let off: Set<string>;

const torch = {
    version: "2.11.0+cu130",
    files: { "torch/__init__.py": "x = 1\n", "torch/c.so": [3_000_000, 1] as [number, number] },
};
const nvidia = { version: "13.0", files: { "nvidia/a.so": [2_000_000, 2] as [number, number], "nvidia/b.so": "b" } };

beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "donors-"));
    cache = process.env.XDG_CACHE_HOME;
    process.env.XDG_CACHE_HOME = join(folder, "cache");
    venv = join(folder, "ml-env");
    donate(venv, { torch, "nvidia-a": nvidia });
    off = new Set();
    await start();
});
afterEach(async () => {
    await provider.stop();
    rmSync(folder, { recursive: true, force: true });
    process.env.XDG_CACHE_HOME = cache;
    if (cache === undefined) {
        delete process.env.XDG_CACHE_HOME;
    }
});

/** A provider as each command starts one. */
async function start(): Promise<void> {
    calls = [];
    provider = await serve((connection) => {
        const host = connectHost(connection);
        const call: typeof host.call = (op, args, options) => {
            calls.push({ host: connection.name, op, args });
            if (off.has(connection.name)) {
                return Promise.reject(new HostError(connection.name, { code: "unreachable", message: "it is off" }));
            }
            return host.call(op, args, options);
        };
        return Object.assign(Object.create(host), {
            call,
            label: host.label,
            look: host.look.bind(host),
            changed: host.changed.bind(host),
            send: host.send.bind(host),
            fetch: host.fetch.bind(host),
            close: host.close.bind(host),
        });
    });
    await provider.handshake();
    await provider.configure();
}

function inputs(name: string, donor: Values = { connection: { name: "ct129", type: "local" } }): Values {
    return {
        connection: { name, type: "local" },
        root: join(folder, name),
        venv: "v",
        overlays: [{ packages: ["torch", "nvidia-*"], from: { venv, ...donor } }],
    };
}

async function checked(news: Values, olds: Values = {}): Promise<Values> {
    const { inputs: found, failures } = await provider.check("PackageOverlay", news, olds);
    assert.deepEqual(failures, []);
    return found;
}

const asked = (op: string): Values[] => calls.filter((one) => one.op === op).map(({ args }) => args);

it("many hosts that take at once are served by one look and one read", async () => {
    const wishes = [await checked(inputs("one")), await checked(inputs("two")), await checked(inputs("three"))];
    const made = await Promise.all(wishes.map((wish) => provider.create("PackageOverlay", wish)));
    assert.equal(asked("donor.look").length, 1);
    const files = asked("donor.get").flatMap((args) => args.files as { place: string }[]);
    assert.deepEqual(
        files
            .map(({ place }) => place)
            .filter((place) => !place.includes(".dist-info"))
            .sort(),
        ["site/nvidia/a.so", "site/nvidia/b.so", "site/torch/__init__.py", "site/torch/c.so"],
    );
    const there = readFileSync(join(venv, "lib/python3.11/site-packages/torch/c.so"));
    const pins = (made[0].state.pins as Record<string, Record<string, { digest: string }>>)[`ct129:${venv}`];
    for (const name of ["one", "two", "three"]) {
        assert.deepEqual(readFileSync(join(folder, name, "trees", pins.torch.digest, "site/torch/c.so")), there);
    }
});

it("what the base has with the same bytes is not fetched, and the base is only read", async () => {
    const mine = join(folder, "mine");
    const site = join(mine, "lib/python3.11/site-packages");
    donate(mine, {
        torch: { ...torch, version: "2.11.0+cu128", files: { ...torch.files, "torch/__init__.py": "x = 0\n" } },
    });
    const before = statSync(join(site, "torch/c.so"), { bigint: true });
    const wish = await checked({ ...inputs("one"), base: { adopt: mine } });
    const { state } = await provider.create("PackageOverlay", wish);
    const places = asked("donor.get").flatMap((args) => (args.files as { place: string }[]).map(({ place }) => place));
    assert.equal(places.includes("site/torch/c.so"), false);
    assert.equal(places.includes("site/torch/__init__.py"), true);
    const pins = (state.pins as Record<string, Record<string, { digest: string }>>)[`ct129:${venv}`];
    const laid = join(folder, "one/trees", pins.torch.digest, "site/torch/c.so");
    assert.deepEqual(readFileSync(laid), readFileSync(join(site, "torch/c.so")));
    const after = statSync(join(site, "torch/c.so"), { bigint: true });
    assert.deepEqual([after.ino, after.ctimeNs, after.nlink], [before.ino, before.ctimeNs, 1n]);
});

it("another way to reach the donor is no difference, and another donor with the same bytes is none either", async () => {
    const wish = await checked(inputs("one"));
    const { state } = await provider.create("PackageOverlay", wish);
    for (const donor of [{ connection: { name: "ct129", type: "local", user: "somebody" } }, {}]) {
        const news = await checked(inputs("one", donor), wish);
        assert.equal((await provider.diff("PackageOverlay", state, wish, news)).some, false);
    }
});

it("a donor of which nothing is known and that is off blinds nobody: what needs it is not planned, and up says why", async () => {
    off.add("ct129");
    const wish = await checked(inputs("one"));
    assert.equal(wish.digest, undefined);
    assert.deepEqual((await provider.create("PackageOverlay", wish, { preview: true })).state, {});
    assert.deepEqual(await provider.unreached(), [{ host: "ct129", message: "ct129: it is off" }]);
    const { message } = await refused(provider.create("PackageOverlay", wish));
    assert.equal(
        message,
        [
            `one (local): what is to be taken from ct129:${venv} is not known: it cannot be asked, and nobody has taken it before`,
            "  found: ct129: it is off",
            "To mend it: bring the donor back for this one run: afterwards it may go",
        ].join("\n"),
    );
});

it("what changes on the donor between the check and the change is refused, and the next run takes it", async () => {
    const wish = await checked(inputs("one"));
    donate(venv, { torch: { ...torch, files: { ...torch.files, "torch/c.so": [3_000_000, 9] } } });
    const { message } = await refused(provider.create("PackageOverlay", wish));
    assert.match(message, /the donor was changed while its files were fetched/);
    assert.ok(message.includes(`where: ${venv}: site/torch/c.so`), message);
    await provider.stop();
    await start();
    const again = await checked(inputs("one"));
    assert.notEqual(again.digest, wish.digest);
    await provider.create("PackageOverlay", again);
});

it("a cache whose bytes went bad is found out by the host, and the next run fetches them anew", async () => {
    await provider.create("PackageOverlay", await checked(inputs("one")));
    const contents = join(folder, "cache/pulumi-sglang/contents");
    for (const path of readdirSync(contents, { recursive: true }).map(String)) {
        const data = path.includes("/") ? readFileSync(join(contents, path)) : Buffer.alloc(0);
        if (data.length === 3_000_000) {
            data[5] ^= 1;
            writeFileSync(join(contents, path), data);
        }
    }
    await provider.stop();
    await start();
    const wish = await checked(inputs("two"));
    const { message } = await refused(provider.create("PackageOverlay", wish));
    assert.match(message, /a content arrived with other bytes than announced/);
    await provider.create("PackageOverlay", wish);
    const files = asked("donor.get").flatMap((args) => args.files as { place: string }[]);
    assert.deepEqual(
        files.map(({ place }) => place),
        ["site/torch/c.so"],
    );
});

/** Overwrites in the cache each content that begins like this; how many. */
function spoil(start: string): number {
    const contents = join(folder, "cache/pulumi-sglang/contents");
    const spoilt = readdirSync(contents, { recursive: true, withFileTypes: true })
        .filter((one) => one.isFile())
        .map((one) => join(one.parentPath, one.name))
        .filter((path) => readFileSync(path).subarray(0, start.length).toString() === start);
    for (const path of spoilt) {
        writeFileSync(
            path,
            readFileSync(path).map((byte, at) => (at === start.length ? byte ^ 1 : byte)),
        );
    }
    return spoilt.length;
}

it("a listing that went bad in the cache is found out by the host, and the next run makes it anew", async () => {
    await provider.create("PackageOverlay", await checked(inputs("one")));
    assert.equal(spoil("sglang listing 1 torch "), 1);
    for (const outcome of ["refused", "laid"]) {
        await provider.stop();
        await start();
        const wish = await checked(inputs("two"));
        const made = provider.create("PackageOverlay", wish);
        if (outcome === "refused") {
            assert.match((await refused(made)).message, /a content arrived with other bytes than announced/);
        } else {
            await made;
        }
    }
});

it("a file of an archive that went bad in the cache is found out by the host, and the next run unpacks it anew", async () => {
    const archive = join(folder, "kernel.tar.gz");
    const tree = join(folder, "kernel");
    mkdirSync(join(tree, "sgl_kernel"), { recursive: true });
    writeFileSync(join(tree, "sgl_kernel/__init__.py"), "unpacked = 1\n");
    execFileSync("tar", ["-czf", archive, "-C", tree, "."]);
    const overlays = [{ packages: ["sgl-kernel"], from: { archive, version: "0.4.4" } }];
    await provider.create("PackageOverlay", await checked({ ...inputs("one"), overlays }));
    assert.equal(spoil("unpacked"), 1);
    const wish = await checked({ ...inputs("two"), overlays });
    const { message } = await refused(provider.create("PackageOverlay", wish));
    assert.match(message, /a content arrived with other bytes than announced/);
    await provider.create("PackageOverlay", await checked({ ...inputs("two"), overlays }));
});

it("nobody has the bytes: the error says who was asked, and what mends it", async () => {
    const wish = await checked(inputs("one"));
    rmSync(join(folder, "cache"), { recursive: true });
    off.add("ct129");
    await provider.stop();
    await start();
    const { message } = await refused(provider.create("PackageOverlay", wish));
    assert.match(message, /^one \(local\): nobody has the bytes of nvidia-a 13\.0 that were taken from ct129:/);
    assert.match(message, /found: ct129: it is off; not in this machine's cache, and on no other host of the stack/);
    assert.match(message, /To mend it: bring the donor back, or take nvidia-a from another source/);
});

it("an overlay from an archive is staged as a directory is, found again, and imported by its path and sha256", async () => {
    const archive = join(folder, "kernel.tar.gz");
    const tree = join(folder, "kernel");
    mkdirSync(join(tree, "sgl_kernel"), { recursive: true });
    writeFileSync(join(tree, "sgl_kernel/__init__.py"), "x = 1\n");
    execFileSync("tar", ["-czf", archive, "-C", tree, "."]);
    const overlays = [{ packages: ["sgl-kernel"], from: { archive, version: "0.4.4" } }];
    const wish = await checked({ ...inputs("one"), overlays });
    const { state, id } = await provider.create("PackageOverlay", wish);
    assert.match((state.packages as Record<string, string>)["sgl-kernel"], /^0\.4\.4 [0-9a-f]{12}$/);
    const live = await provider.read("PackageOverlay", id, state, wish);
    assert.equal((await provider.diff("PackageOverlay", live.state, wish, wish)).some, false);
    const inventory = join(folder, "inventory.json");
    const { connection, root } = inputs("one");
    writeFileSync(inventory, JSON.stringify({ one: { connection, root } }));
    process.env.SGLANG_FLEET_INVENTORY = inventory;
    try {
        const imported = await provider.read("PackageOverlay", id);
        const sha256 = createHash("sha256").update(readFileSync(archive)).digest("hex");
        assert.deepEqual(imported.inputs.overlays, [
            { packages: ["sgl-kernel"], from: { archive, sha256, version: "0.4.4" } },
        ]);
        assert.equal(imported.inputs.digest, wish.digest);
    } finally {
        delete process.env.SGLANG_FLEET_INVENTORY;
    }
});

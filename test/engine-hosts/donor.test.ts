import assert from "node:assert/strict";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { type Donated, expectExit } from "../engine/harness";
import { type TestHost, whyNoHosts } from "../hosts/testHost";
import { donateOn, exactFiles, HostStand, ROOT, reached } from "./harness";

const skip = whyNoHosts();
const DONOR = "/root/ml-env";
const TARGET = "/root/venv";
const SITE = "lib/python3.11/site-packages";

/** 64 MB that no compression makes smaller. */
const large: Record<string, Donated> = {
    torch: {
        version: "2.11.0+cu130",
        files: Object.fromEntries([
            ["torch/__init__.py", "VERSION = '2.11.0+cu130'\n"],
            ["torchgen/__init__.py", ""],
            ...Array.from({ length: 16 }, (_, at) => [`torch/lib/lib${at}.so`, [2 << 20, at]]),
        ]),
        scripts: { torchrun: "import torch; print(torch.VERSION)\n" },
    },
    "nvidia-a": {
        version: "13.0",
        files: Object.fromEntries(
            Array.from({ length: 16 }, (_, at) => [`nvidia/a/lib/lib${at}.so`, [2 << 20, 100 + at]]),
        ),
    },
};
const BYTES = 64 << 20;

/** A donor and three hosts that take from it, by the real engine over SSH. Each test goes on where the one before ended. */
describe("packages of another host", { skip }, () => {
    let stand: HostStand;
    let untouched: Record<string, string>;

    const declare = (...names: string[]) => {
        const overlays = [{ packages: ["torch", "nvidia-*"], from: { host: "ct129", venv: DONOR } }];
        stand.workspace.fleet({
            defaults: { connection: { connectTimeout: 5 } },
            venvs: { v: { base: { adopt: TARGET }, overlays } },
            hosts: {
                ct129: { connection: reached(stand.host("ct129")) },
                ...Object.fromEntries(
                    names.map((name) => [name, { connection: reached(stand.host(name)), venvs: ["v"] }]),
                ),
            },
        });
    };
    const release = async (name: string): Promise<string> => {
        const id = (await stand.workspace.resources())[`${name}-v`]?.outputs.release;
        return `${ROOT}/venvs/v/releases/${id}`;
    };
    /** sha256 of each file of the packages that are taken, as a host has them below a venv. */
    const sums = async (host: TestHost, venv: string): Promise<string> => {
        const line = `cd ${venv}/${SITE} && find torch torchgen nvidia -type f ! -name '*.pyc' -print0 | sort -z | xargs -0 sha256sum`;
        return (await host.exec("sh", "-c", line)).stdout;
    };
    const counters = async (name: string): Promise<{ sent: number; received: number }> => {
        const files = ["tx", "rx"].map((way) => `/sys/class/net/host0/statistics/${way}_bytes`);
        const { stdout } = await stand.host(name).exec("cat", ...files);
        const [sent = 0, received = 0] = stdout.trim().split("\n").map(Number);
        return { sent, received };
    };

    before(async () => {
        stand = await HostStand.up({ ct129: {}, one: {}, two: {}, three: {} });
        stand.workspace.set({ XDG_CACHE_HOME: `${stand.workspace.folder}/cache` });
        await donateOn(stand.host("ct129"), DONOR, large);
        for (const name of ["one", "two", "three"]) {
            await donateOn(stand.host(name), TARGET, {
                torch: { version: "2.11.0+cu128", files: { "torch/__init__.py": "VERSION = 'old'\n" } },
            });
        }
        untouched = await exactFiles(stand.host("ct129"), DONOR);
    });
    after(() => stand?.down());

    it("lie in the releases of two hosts, byte for byte, and were read once", async () => {
        declare("one", "two");
        const before = await counters("ct129");
        expectExit(await stand.workspace.up());
        const { sent } = await counters("ct129");
        assert.ok(sent - before.sent > BYTES && sent - before.sent < 1.2 * BYTES, `${sent - before.sent} bytes`);
        const wanted = await sums(stand.host("ct129"), DONOR);
        assert.equal(wanted.split("\n").length, 35);
        for (const name of ["one", "two"]) {
            const made = await release(name);
            assert.equal(await sums(stand.host(name), made), wanted);
            assert.equal((await stand.host(name).exec(`${made}/bin/torchrun`)).stdout, "2.11.0+cu130\n");
        }
    });

    it("were only looked at on the donor, where nothing of ours is", async () => {
        assert.deepEqual(await exactFiles(stand.host("ct129"), DONOR), untouched);
        assert.notEqual((await stand.host("ct129").exec("ls", ROOT)).exit, 0);
    });

    it("are not moved a second time", async () => {
        const before = await Promise.all(["ct129", "one"].map(counters));
        expectExit(await stand.workspace.up());
        const now = await Promise.all(["ct129", "one"].map(counters));
        for (const [at, { sent, received }] of now.entries()) {
            assert.ok(sent - before[at].sent < 300_000, `${sent - before[at].sent} bytes`);
            assert.ok(received - before[at].received < 300_000, `${received - before[at].received} bytes`);
        }
    });

    it("stay, and reach another host, when the donor is off", async () => {
        await stand.host("ct129").powerOff();
        await stand.disconnect();
        const { output } = expectExit(await stand.workspace.pulumi("preview", "--expect-no-changes"));
        assert.match(output, /donor ct129:\/root\/ml-env cannot be asked, so what was taken from it before is used: /);
        declare("one", "two", "three");
        expectExit(await stand.workspace.up());
        assert.equal(
            await sums(stand.host("three"), await release("three")),
            await sums(stand.host("one"), await release("one")),
        );
    });

    it("go on after a cut in the middle of a file: what had arrived of it is not sent again", async () => {
        const [donor, three] = [stand.host("ct129"), stand.host("three")];
        const size = 32 << 20;
        await donor.powerOn();
        stand.workspace.set({ XDG_CACHE_HOME: `${stand.workspace.folder}/other` });
        await donateOn(donor, DONOR, {
            "nvidia-a": { version: "13.1", files: { "nvidia/a/lib/lib0.so": [size, 200] } },
        });
        declare("three");
        const before = await counters("three");
        const contents = join(stand.workspace.folder, "other/pulumi-sglang/contents");
        /** Bytes of the library that are in the cache of this machine; they go on to the host as they come. */
        const fetched = (): number =>
            Math.max(0, ...filesOf(contents).map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0));
        await donor.slow(150, 0);
        const up = stand.workspace.start("up", "--yes", "--skip-preview", "--target", "**three**");
        while (fetched() < 20 << 20) {
            assert.equal(await Promise.race([up.ended, setTimeout(10)]), undefined, "it was over too soon");
        }
        await donor.powerOff();
        const cut = await up.ended;
        assert.notEqual(cut.code, 0);
        const arrived = (await counters("three")).received - before.received;
        assert.ok(arrived > 12 << 20, `${arrived} bytes`);
        await donor.powerOn();
        await stand.disconnect();
        expectExit(await stand.workspace.up("--target", "**three**"));
        const moved = (await counters("three")).received - before.received;
        assert.ok(moved < size * 1.2, `${moved} bytes reached the host`);
        const { sent } = await counters("ct129");
        assert.ok(sent < size - (18 << 20), `${sent} bytes left the donor since it booted`);
        assert.equal(await sums(three, await release("three")), await sums(donor, DONOR));
    });
});

/** All files below a folder; none of one that is not there. */
function filesOf(folder: string): string[] {
    const entries = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
    return entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
}

import assert from "node:assert/strict";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { type Donated, expectExit } from "../engine/harness";
import { type TestHost, whyNoHosts } from "../hosts/testHost";
import { donateOn, exactFiles, HostStand, ROOT } from "./harness";
import { reached } from "./harness/fleet";

const skip = whyNoHosts();
const DONOR = "/root/ml-env";
const SITE = "lib/python3.11/site-packages";
const SIZE = 96 << 20;
/** What `ssh` on the host goes through, so that there is time for a cut: some 8 MB a second. */
const SLOW = `import os, select, socket, sys, time
line = socket.create_connection((sys.argv[1], 22))
while True:
    for one in select.select([0, line], [], [])[0]:
        data = os.read(0, 65536) if one == 0 else line.recv(65536)
        if not data:
            sys.exit()
        if one == 0:
            line.sendall(data)
        else:
            time.sleep(len(data) / 8e6)
            while data:
                data = data[os.write(1, data):]
`;

const given: Record<string, Donated> = {
    torch: {
        version: "2.11.0+cu130",
        files: { "torch/__init__.py": "VERSION = '2.11.0+cu130'\n", "torch/lib/large.so": [SIZE, 7] },
    },
};

/** A host that fetches from the donor by its own ssh. Each test goes on where the one before ended. */
describe("packages that a host fetches from its donor directly", { skip }, () => {
    let stand: HostStand;
    let donor: TestHost;
    let one: TestHost;
    let untouched: Record<string, string>;

    const sh = async (host: TestHost, line: string): Promise<string> => {
        const { exit, stdout, stderr } = await host.exec("sh", "-c", line);
        assert.equal(exit, 0, stderr);
        return stdout;
    };
    const large = (host: TestHost, venv: string) => sh(host, `sha256sum < ${venv}/${SITE}/torch/lib/large.so`);
    /** An up of which 20 MB have arrived. */
    const begun = async () => {
        await sh(one, `rm -f ${ROOT}/store/incoming/*.part`);
        const up = stand.workspace.start("up", "--yes", "--skip-preview");
        const arrived = `stat -c %s ${ROOT}/store/incoming/*.part 2>/dev/null || echo 0`;
        while (Number(await sh(one, arrived)) < 20 << 20) {
            assert.equal(await Promise.race([up.ended, setTimeout(10)]), undefined, "it was over too soon");
        }
        return up;
    };
    /** The largest file in the cache of this machine: listings are small. */
    const cached = (): number => {
        const folder = join(stand.workspace.folder, "cache/pulumi-sglang/contents");
        const entries = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
        return Math.max(
            0,
            ...entries
                .filter((entry) => entry.isFile())
                .map((entry) => statSync(join(entry.parentPath, entry.name)).size),
        );
    };

    before(async () => {
        stand = await HostStand.up({ ct129: {}, one: {} });
        [donor, one] = [stand.host("ct129"), stand.host("one")];
        stand.workspace.set({ XDG_CACHE_HOME: `${stand.workspace.folder}/cache` });
        await donateOn(donor, DONOR, given);
        await donateOn(one, "/root/venv", { torch: { version: "2.10", files: { "torch/__init__.py": "" } } });
        untouched = await exactFiles(donor, DONOR);
        const from = { host: "ct129", venv: DONOR, direct: `root@${donor.address}` };
        stand.workspace.fleet({
            defaults: { connection: { connectTimeout: 5 } },
            venvs: { v: { base: { adopt: "/root/venv" }, overlays: [{ packages: ["torch"], from }] } },
            hosts: {
                ct129: { connection: reached(donor) },
                one: { connection: reached(one), venvs: ["v"] },
            },
        });
    });
    after(() => stand?.down());

    it("a host that does not know the donor's key is told so, and nothing comes another way", async () => {
        const { code, output } = await stand.workspace.up();
        assert.notEqual(code, 0);
        assert.match(output, /this host does not reach the donor by its own ssh/);
        assert.match(output, /Host key verification failed/);
        assert.match(output, /put the donor's host key into known_hosts of root here, after comparing it/);
        assert.equal(await sh(one, `ls ${ROOT}/trees 2>/dev/null | wc -l`), "0\n");
    });

    it("a host whose key the donor does not take is told so", async () => {
        const key = (await sh(donor, "cat /etc/ssh/ssh_host_ed25519_key.pub")).trim();
        await sh(one, `mkdir -p -m 700 /root/.ssh; echo '${donor.address} ${key}' >> /root/.ssh/known_hosts`);
        const { code, output } = await stand.workspace.up();
        assert.notEqual(code, 0);
        assert.match(output, /Permission denied/);
        assert.match(output, new RegExp(`give root here a key that root@${donor.address} takes`));
    });

    it("a file that is written over while it is fetched is named, and nothing is laid", async () => {
        await sh(one, "ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519");
        const key = (await sh(one, "cat /root/.ssh/id_ed25519.pub")).trim();
        await sh(donor, `echo '${key}' >> /root/.ssh/authorized_keys`);
        await sh(one, `cat > /root/slow.py <<'E'\n${SLOW}E`);
        const proxy = `Host ${donor.address}\n  ProxyCommand python3 /root/slow.py %h\n`;
        await sh(one, `printf '${proxy.replaceAll("%", "%%")}' > /root/.ssh/config`);
        const up = await begun();
        await sh(donor, `dd if=/dev/urandom of=${DONOR}/${SITE}/torch/lib/large.so bs=1M seek=95 count=1 conv=notrunc`);
        untouched = await exactFiles(donor, DONOR);
        const { code, output } = await up.ended;
        assert.notEqual(code, 0);
        assert.match(output, /the donor was changed while its files were fetched/);
        assert.ok(output.includes(`where: root@${donor.address}:${DONOR}: site/torch/lib/large.so`), output);
        assert.equal(await sh(one, `ls ${ROOT}/trees 2>/dev/null | wc -l`), "0\n");
    });

    it("a cut in the middle of a file is said, and the next run goes on there", async () => {
        const up = await begun();
        await donor.powerOff();
        const cut = await up.ended;
        assert.notEqual(cut.code, 0);
        assert.match(cut.output, /this host lost the donor, which it reached by its own ssh/);
        await donor.powerOn();
        await stand.disconnect();
        await sh(one, "rm /root/.ssh/config");
        expectExit(await stand.workspace.up());
        const sent = Number(await sh(donor, "cat /sys/class/net/host0/statistics/tx_bytes"));
        assert.ok(sent < SIZE - (20 << 20), `${sent} bytes left the donor since it booted`);
    });

    it("the bytes are the donor's, did not come by this machine, and the donor was only read", async () => {
        const id = (await stand.workspace.resources())["one-v"]?.outputs.release;
        assert.equal(await large(one, `${ROOT}/venvs/v/releases/${id}`), await large(donor, DONOR));
        assert.ok(cached() < 100_000, `${cached()} bytes`);
        assert.deepEqual(await exactFiles(donor, DONOR), untouched);
        assert.equal((await donor.exec("ls", ROOT)).exit !== 0, true);
        expectExit(await stand.workspace.pulumi("preview", "--expect-no-changes"));
    });

    it("what was taken stays when the donor is off", async () => {
        await donor.powerOff();
        await stand.disconnect();
        expectExit(await stand.workspace.pulumi("preview", "--expect-no-changes"));
    });
});

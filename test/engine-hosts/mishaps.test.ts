import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { expectExit } from "../engine/harness";
import { type TestHost, whyNoHosts } from "../hosts/testHost";
import { files, HostStand, ROOT, server, servers, unitFiles } from "./harness";

const skip = whyNoHosts();

/** One host that serves from a small disk of its own, and what happens to it. Each test goes on where the one before ended. */
describe("a host with a small disk", { skip }, () => {
    let stand: HostStand;
    let host: TestHost;
    let units: string[];
    let pid: number;
    const inside = async (line: string) => assert.equal((await host.exec("sh", "-euc", line)).exit, 0, line);
    const outputs = async () =>
        Object.fromEntries(Object.entries(await stand.workspace.resources()).map(([name, one]) => [name, one.outputs]));
    const assertNothingLeft = async () => {
        assert.deepEqual([await servers(host), await unitFiles(host)], [[], units]);
        assert.deepEqual(
            Object.keys(await files(host)).filter((path) => path.startsWith(`${ROOT}/`)),
            [],
        );
    };

    before(async () => {
        stand = await HostStand.up({ one: {} }, { uv: true });
        host = stand.host("one");
        units = await unitFiles(host);
        await inside(`mkdir -p ${ROOT}; mount -t tmpfs -o size=700m disk ${ROOT}`);
        stand.describe();
        expectExit(await stand.workspace.up());
        pid = await server(host);
    });
    after(() => stand?.down());

    it("whose link is dead though its connection seems open is given up within a minute, and nothing is lost", async () => {
        expectExit(await stand.workspace.pulumi("preview", "--expect-no-changes"));
        const kept = await outputs();
        await host.cutLink();
        const { code, output, seconds } = await stand.workspace.pulumi("preview");
        await host.restoreLink();
        assert.equal(code, 1, output);
        assert.match(output, /GpuHost \(one\):\n {4}error: one \(\S+\): /);
        assert.match(output, /To mend it: /);
        assert.ok(seconds < 60, `${seconds} s`);
        assert.deepEqual(await outputs(), kept);
    });

    it("that is full says where, keeps the old bytes and the server, and converges once there is room", async () => {
        await inside(`dd if=/dev/zero of=${ROOT}/filler bs=64k 2>/dev/null || true`);
        stand.describe({ answer: "Nice." });
        const { output } = expectExit(await stand.workspace.up(), 1);
        assert.match(output, /no (?:room|space left) for /);
        assert.match(output, new RegExp(`where: ${ROOT}`));
        assert.match(output, /To mend it: free space there/);
        assert.deepEqual([await server(host), await stand.completion("one")], [pid, "Lyon."]);
        await inside(`rm ${ROOT}/filler`);
        expectExit(await stand.workspace.up());
        assert.equal(await stand.completion("one"), "Nice.");
        const temporary = Object.keys(await files(host)).filter(
            (path) => path.startsWith(ROOT) && path.endsWith(".tmp"),
        );
        assert.deepEqual(temporary, []);
    });

    it("whose unit was removed by hand is destroyed all the same", async () => {
        const unit = "sglang-chat.service";
        await inside(`systemctl disable --now ${unit}; rm -f /etc/systemd/system/${unit}; systemctl daemon-reload`);
        expectExit(await stand.workspace.destroy());
        await assertNothingLeft();
    });

    it("whose files were removed under the server has its server and unit ended by destroy", async () => {
        expectExit(await stand.workspace.up());
        await server(host);
        await inside(`find ${ROOT} -mindepth 1 -delete`);
        const { output } = await stand.workspace.pulumi("preview");
        assert.match(output, /runs, though its files are gone/);
        expectExit(await stand.workspace.destroy());
        await assertNothingLeft();
    });
});

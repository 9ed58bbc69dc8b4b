import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { expectExit } from "../engine/harness";
import { type TestHost, whyNoHosts } from "../hosts/testHost";
import { declareDrift, declared, likened, previewed, type Seen } from "./drift";
import { rows } from "./drift/rows";
import { type Files, HostStand, server } from "./harness";

const skip = whyNoHosts();

/** One systemd host, by the real engine over SSH. Each row begins and ends with a host that is as declared. */
describe("whatever somebody changes on a host", { skip }, () => {
    let stand: HostStand;
    let host: TestHost;
    let whole: Files;

    before(async () => {
        stand = await HostStand.up({ one: {} }, { uv: true });
        host = stand.host("one");
        await declareDrift(stand);
        expectExit(await stand.workspace.up());
        whole = await declared(host);
        expectExit(await stand.workspace.pulumi("preview", "--expect-no-changes"));
    });
    after(() => stand?.down());

    /** What a plain preview shows, and its exit code with `--expect-no-changes`. */
    async function preview(): Promise<{ code: number | null; rows: Seen; output: string }> {
        const [json, plain] = await Promise.all([
            stand.workspace.pulumi("preview", "--json"),
            stand.workspace.pulumi("preview", "--expect-no-changes"),
        ]);
        return { code: plain.code, rows: previewed(json), output: plain.output };
    }

    for (const row of rows) {
        it(`${row.what}: preview names it, up repairs it, and nothing is left to do`, async () => {
            const pid = await server(host);
            const edited = await host.exec("sh", "-euc", `cd /; ${row.edit}`);
            assert.equal(edited.exit, 0, edited.stderr);
            const found = await preview();

            // Whatever it showed, the next row wants a host that is as declared.
            const { output } = expectExit(await stand.workspace.up());
            const left = await stand.workspace.pulumi("preview", "--expect-no-changes");
            assert.deepEqual(likened(found.rows, row.shows), row.shows);
            assert.notEqual(found.code, 0);
            for (const pattern of row.says ?? []) {
                assert.match(found.output, pattern, output);
            }
            assert.equal(left.code, 0, left.output);
            if (row.becomes === undefined) {
                assert.deepEqual(await declared(host), whole);
            } else {
                assert.equal((await host.exec("sh", "-c", row.becomes.run)).stdout, `${row.becomes.prints}\n`);
            }
            assert.equal(await stand.completion("one"), "Lyon.");
            assert.equal((await server(host)) !== pid, row.restarts === true, "whether it was restarted");
        });
    }
});

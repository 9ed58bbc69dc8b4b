import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { expectExit, type Outcome, previewed, type Seen } from "../engine/harness";
import { whyNoHosts } from "../hosts/testHost";
import { declareDrift, declared, likened, seenOn, toldOf } from "./drift";
import { rows } from "./drift/rows";
import { type Files, HostStand, server } from "./harness";

const skip = whyNoHosts();
const names = ["h0", "h1", "h2", "h3", "h4", "h5", "h6"];
/** As many rows at once as there are hosts: each has one to itself, and begins on a host that is as declared. */
const rounds = Array.from({ length: Math.ceil(rows.length / names.length) }, (_, at) =>
    rows.slice(at * names.length, (at + 1) * names.length).map((row, host) => ({ row, name: names[host] as string })),
);

describe("whatever somebody changes on hosts", { skip }, () => {
    let stand: HostStand;
    let whole: Record<string, Files>;

    const each = <T>(ask: (name: string) => Promise<T>): Promise<Record<string, T>> =>
        Promise.all(names.map(async (name) => [name, await ask(name)] as const)).then(Object.fromEntries);

    before(async () => {
        stand = await HostStand.up(Object.fromEntries(names.map((name) => [name, {}])), { uv: true });
        await declareDrift(stand);
        expectExit(await stand.workspace.up());
        whole = await each((name) => declared(stand.host(name)));
        expectExit(await stand.workspace.pulumi("preview", "--expect-no-changes"));
    });
    after(() => stand?.down());

    for (const [at, round] of rounds.entries()) {
        describe(`round ${at + 1}`, () => {
            let old: Record<string, number>;
            let seen: Seen;
            let plain: Outcome;
            let left: Outcome;

            before(async () => {
                old = await each((name) => server(stand.host(name)));
                await Promise.all(
                    round.map(async ({ row, name }) => {
                        const edited = await stand.host(name).exec("sh", "-euc", `cd /; ${row.edit}`);
                        assert.equal(edited.exit, 0, edited.stderr);
                    }),
                );
                seen = previewed(await stand.workspace.pulumi("preview", "--json"));
                plain = await stand.workspace.pulumi("preview", "--expect-no-changes");
                expectExit(await stand.workspace.up());
                left = await stand.workspace.pulumi("preview", "--expect-no-changes");
            });

            for (const { row, name } of round) {
                it(`${row.what}: preview names it and nothing else, up repairs it`, async () => {
                    const host = stand.host(name);
                    assert.deepEqual(likened(seenOn(seen, name), row.shows), row.shows);
                    for (const pattern of row.says ?? []) {
                        assert.match(toldOf(plain.output, name), pattern, plain.output);
                    }
                    if (row.becomes === undefined) {
                        assert.deepEqual(await declared(host), whole[name]);
                    } else {
                        assert.equal((await host.exec("sh", "-c", row.becomes.run)).stdout, `${row.becomes.prints}\n`);
                    }
                    assert.equal(await stand.completion(name), "Lyon.");
                    const replaced = (await server(host)) !== old[name];
                    assert.equal(replaced, row.restarts === true, "whether it was restarted");
                });
            }

            it("only what was changed is shown, the exit code says that there is something, and nothing is left to do", () => {
                const changed = round.flatMap(({ row, name }) =>
                    Object.keys(row.shows).map((part) => `${name}-${part}`),
                );
                assert.deepEqual(Object.keys(seen).sort(), changed.sort());
                assert.notEqual(plain.code, 0);
                assert.equal(left.code, 0, left.output);
            });
        });
    }
});

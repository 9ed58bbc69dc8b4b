import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { expectExit, live, previewed, randomly } from "../engine/harness";
import { whyNoHosts } from "../hosts/testHost";
import { declareDrift, declared, seenOn } from "./drift";
import { expectedOf, hostEdits, restarts, shellOf, simplified } from "./drift/anyEdits";
import { type Files, HostStand, ROOT, server } from "./harness";

const skip = whyNoHosts();
const names = ["h0", "h1", "h2", "h3"];
/** Each run has a host to itself; as many at once as there are hosts. */
const ROUNDS = 2;

describe("any edits of a release, its environment, its unit, its link and its server", { skip }, () => {
    let stand: HostStand;
    let watched: string[];
    let whole: Record<string, Files>;

    const each = async <T>(ask: (name: string) => Promise<T>): Promise<Record<string, T>> =>
        Object.fromEntries(await Promise.all(names.map(async (name) => [name, await ask(name)] as const)));

    before(async () => {
        stand = await HostStand.up(Object.fromEntries(names.map((name) => [name, {}])), { uv: true });
        await declareDrift(stand);
        expectExit(await stand.workspace.up());
        whole = await each((name) => declared(stand.host(name)));
        const find = `cd ${ROOT}/services/chat/venv/lib/python3.11/site-packages && find sglang sgl_kernel -name '*.py'`;
        watched = (await stand.host("h0").exec("sh", "-c", find)).stdout.trim().split("\n").sort();
    });
    after(() => stand?.down());

    it("a preview plans exactly those of each host, up gives back all that is declared, and nothing is left to do", async (t) => {
        const { seed, runs } = randomly(hostEdits(watched), ROUNDS * names.length);
        for (let at = 0; at < runs.length; at += names.length) {
            const round = runs.slice(at, at + names.length).map((edits, host) => {
                const told = { ...edits, release: edits.release.map(({ what }) => what) };
                const about = `SGLANG_TEST_SEED=${seed}: ${JSON.stringify(told)}`;
                t.diagnostic(about);
                return { edits, about, name: names[host] as string };
            });
            const old = await each((name) => server(stand.host(name)));
            for (const { edits, name, about } of round) {
                const made = await stand.host(name).exec("sh", "-euc", shellOf(edits));
                assert.equal(made.exit, 0, `${about}\n${made.stderr}`);
            }
            const seen = previewed(await stand.workspace.pulumi("preview", "--json"));
            for (const { edits, name, about } of round) {
                assert.deepEqual(simplified(live(seenOn(seen, name))), expectedOf(edits), about);
            }
            expectExit(await stand.workspace.up());
            for (const { edits, name, about } of round) {
                assert.deepEqual(await declared(stand.host(name)), whole[name], about);
                assert.equal(await stand.completion(name), "Lyon.", about);
                const replaced = (await server(stand.host(name))) !== old[name];
                assert.equal(replaced, restarts(edits), `${about}: whether it was restarted`);
            }
            expectExit(await stand.workspace.pulumi("preview", "--expect-no-changes"));
        }
    });
});

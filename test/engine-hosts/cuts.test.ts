import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { answerModule, expectExit } from "../engine/harness";
import { whyNoHosts } from "../hosts/testHost";
import {
    activation,
    begun,
    HostStand,
    type HostWishes,
    killControl,
    oldOrNew,
    server,
    settled,
    slow,
    slowReloads,
} from "./harness";

const skip = whyNoHosts();

/** Seconds within which a host must have ended by itself: all of an activation, the way back, and a slow machine. */
const DEADLINE = 90;

/** Stages on the way forward, and whether the shared connection is killed as well. */
const forward: [stage: string, master: boolean][] = [
    ["preflight", false],
    ["save", true],
    ["drain", false],
    ["stop", true],
    ["switch", false],
    ["start", true],
    ["wait", false],
    ["wait", true],
    ["stable", false],
    ["prove", true],
    ["commit", false],
];
/** Stages on the way back from a release that never becomes ready. */
const back: [stage: string, master: boolean][] = [
    ["back-stop", false],
    ["back-restore", true],
    ["back-start", false],
    ["back-wait", true],
    ["back-prove", false],
    ["back-undo", true],
];

describe("pulumi, the provider and ssh killed in the middle of an activation", { skip }, () => {
    let stand: HostStand;
    let answer = "Lyon.";
    let turn = 0;

    before(async () => {
        stand = await HostStand.up({ one: {} }, { uv: true });
        await slowReloads(stand.host("one"));
        stand.describe({ ...slow, answer });
        expectExit(await stand.workspace.up());
    });
    after(() => stand?.down());

    /** Starts an `up` of these wishes and kills everything of it that is on this machine, once that stage has begun. */
    async function cutIn(stage: string, master: boolean, wishes: HostWishes): Promise<void> {
        const host = stand.host("one");
        stand.describe(wishes);
        const earlier = (await activation(host))?.id ?? null;
        const up = stand.workspace.start("up", "--yes", "--skip-preview");
        assert.ok(await begun(host, stage, earlier), `the activation has a stage ${stage}`);
        killControl(stand.workspace, master);
        assert.equal((await up.ended).signal, "SIGKILL");
    }

    /** What the next command on the stack needs after a kill, and that it converges. */
    async function converges(wished: string): Promise<void> {
        expectExit(await stand.workspace.pulumi("cancel", "--yes"));
        stand.describe({ ...slow, answer: wished });
        expectExit(await stand.workspace.up());
        assert.equal(await stand.completion("one"), wished);
        await server(stand.host("one"));
        answer = wished;
    }

    for (const [stage, master] of forward) {
        const what = master ? "with the shared connection" : "without the shared connection";
        it(`in stage ${stage}, ${what}: the host ends old or new, and the next up converges`, async (t) => {
            const wished = `Nice ${turn++}.`;
            await cutIn(stage, master, { ...slow, answer: wished });
            const found = await settled(stand.host("one"), DEADLINE);
            t.diagnostic(`${oldOrNew(found, answer, wished)}: ${found.activation.state} in ${found.activation.stage}`);
            await converges(wished);
        });
    }

    for (const [stage, master] of back) {
        it(`in stage ${stage} of the way back: the host ends old, and the next up converges`, async (t) => {
            const never = answerModule("Never.", 'os.environ["STANDIN_NEVER_READY"] = "1"');
            const service = { ...slow.service, ready: { timeout: "3s", stable: "1s" } };
            await cutIn(stage, master, { ...slow, service, module: never });
            const found = await settled(stand.host("one"), DEADLINE);
            assert.equal(oldOrNew(found, answer, "Never."), "old");
            t.diagnostic(`${found.activation.state} in ${found.activation.stage}`);
            await converges(`Nice ${turn++}.`);
        });
    }

    it("and preview then has no change", async () => {
        expectExit(await stand.workspace.pulumi("preview", "--expect-no-changes"));
    });
});

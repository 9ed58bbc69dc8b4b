import assert from "node:assert/strict";
import { after, before } from "node:test";
import { expectExit } from "../../engine/harness";
import { killControl, oldOrNew, settled } from "./cut";
import type { HostWishes } from "./fleet";
import { activation, begun, server } from "./onHost";
import { slow, slowReloads } from "./slow";
import { HostStand } from "./stand";

/** Seconds within which a host must have ended by itself: all of an activation, the way back, and a slow machine. */
const DEADLINE = 90;

/** One host that serves, whose stack is killed again and again in the middle of an activation; there once a suite's tests run. */
export class Killed {
    /** What the host serves. */
    answer = "Lyon.";
    private made: HostStand | undefined;

    /** Has it made before the tests of the suite that calls it, and ended after them. */
    constructor() {
        before(async () => {
            this.made = await HostStand.up({ one: {} }, { uv: true });
            await slowReloads(this.stand.host("one"));
            this.stand.describe({ ...slow, answer: this.answer });
            expectExit(await this.stand.workspace.up());
        });
        after(() => this.made?.down());
    }

    get stand(): HostStand {
        return this.made as HostStand;
    }

    /**
     * Starts an `up` of these wishes and kills everything of it that is on this machine, once that stage has begun; `master`: the
     * shared connection as well. Gives how the host ended by itself, as against the answer that was wished.
     */
    async cutIn(stage: string, master: boolean, wishes: HostWishes, wished: string): Promise<"old" | "new"> {
        const host = this.stand.host("one");
        this.stand.describe(wishes);
        const earlier = (await activation(host))?.id ?? null;
        const up = this.stand.workspace.start("up", "--yes", "--skip-preview");
        assert.ok(await begun(host, stage, earlier), `the activation has a stage ${stage}`);
        killControl(this.stand.workspace, master);
        assert.equal((await up.ended).signal, "SIGKILL");
        return oldOrNew(await settled(host, DEADLINE), this.answer, wished);
    }

    /** What the next command on the stack needs after a kill, and that it converges. */
    async converges(wished: string): Promise<void> {
        expectExit(await this.stand.workspace.pulumi("cancel", "--yes"));
        this.stand.describe({ ...slow, answer: wished });
        expectExit(await this.stand.workspace.up());
        assert.equal(await this.stand.completion("one"), wished);
        await server(this.stand.host("one"));
        this.answer = wished;
    }
}

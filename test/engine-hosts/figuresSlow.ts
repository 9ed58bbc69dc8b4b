/**
 * What a no-change preview of one host costs over a slow link, above a provider that answers without looking:
 *   scripts/figures slow        as root, on a machine that does nothing else
 */
import { loadavg } from "node:os";
import { expectExit } from "../engine/harness";
import { HostStand } from "./harness";

const ROUNDS = 5;
/** Milliseconds each way, and percent of packets that are lost. */
const LINK = [40, 1] as const;

async function main(): Promise<void> {
    const stand = await HostStand.up({ one: {} }, { uv: true });
    try {
        stand.describe();
        expectExit(await stand.workspace.up());
        await stand.host("one").slow(...LINK);
        const preview = async (provider: string): Promise<number> => {
            stand.workspace.provider(provider);
            return expectExit(await stand.workspace.pulumi("preview", "--expect-no-changes")).seconds;
        };
        console.log(`a round trip of ${2 * LINK[0]} ms, ${LINK[1]} % of packets lost`);
        console.log("   cold  shared   floor  cold above  shared above  load");
        for (let round = 0; round < ROUNDS; round++) {
            await stand.disconnect();
            const cold = await preview("provider");
            const shared = await preview("provider");
            const floor = await preview("test/engine/floor");
            const row = [cold, shared, floor, cold - floor, shared - floor, loadavg()[0] as number];
            console.log(row.map((value) => value.toFixed(2).padStart(7)).join(" "));
        }
    } finally {
        await stand.down();
    }
}

void main();

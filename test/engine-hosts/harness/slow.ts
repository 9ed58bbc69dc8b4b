import type { TestHost } from "../../hosts/testHost";
import type { HostWishes } from "./fleet";

/** Makes stages of an activation long enough to be hit: draining, ending, loading and staying up take their time. */
export const slow = {
    env: { STANDIN_READY_AFTER: "1", STANDIN_SLOW_STOP: "1" },
    service: {
        drain: { argv: ["sleep", "1"], undo: ["true"] },
        ready: { timeout: "20s", stable: "2s" },
    },
} satisfies HostWishes;

const generator = "/etc/systemd/system-generators/slow";

/** Lets each `daemon-reload` of a host take its time, as on one with many units: stages that reload become long enough too. */
export async function slowReloads(host: TestHost): Promise<void> {
    const lines = ["#!/bin/sh", "sleep 0.7"].join("\\n");
    await host.exec(
        "sh",
        "-c",
        `mkdir -p $(dirname ${generator}) && printf '${lines}\\n' >${generator} && chmod 755 ${generator}`,
    );
}

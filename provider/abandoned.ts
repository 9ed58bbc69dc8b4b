import type { Connection } from "./connection";
import type { HostFacts } from "./host/facts";
import { HostError } from "./host/host";
import type { Kept } from "./resource";

/** Whether the user has given a host up: SGLANG_FLEET_ABANDON names it, among others perhaps. */
export function isAbandoned(name: string): boolean {
    const names = (process.env.SGLANG_FLEET_ABANDON ?? "").split(",");
    return names.some((one) => one.trim() === name);
}

/** Why a host cannot be used whose address another machine has now. That one does not say what became of the first. */
export function otherMachine({ name }: Connection, prior: Kept, { machine }: HostFacts): HostError {
    return new HostError(name, {
        code: "other-machine",
        message: "another machine answers there",
        found: `machine id ${machine.machineId} (${machine.hostname})`,
        expected: prior.machine,
        remedy: `correct the address; or, if the first machine is gone for good, SGLANG_FLEET_ABANDON=${name} pulumi up makes everything anew on this one`,
    });
}

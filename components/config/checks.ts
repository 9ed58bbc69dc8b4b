import type { z } from "zod";
import { gates } from "../../provider/resources/inputs/sglangService";
import { venvInputs } from "../../provider/resources/inputs/venv";
import { duration } from "./duration";
import { open } from "./open";
import { strict } from "./strict";

/** What a release must pass, in the service's environment, before anything that runs is touched. */
export const checks = strict({
    imports: open(gates.shape.imports),
    assert: open(gates.shape.asserts),
    acceptLibraries: open(gates.shape.acceptLibraries),
    flags: open(gates.shape.flags),
    timeout: duration.optional().describe("Time that all of them together may take; duration. Default: 10m."),
}).meta({
    id: "checks",
    description: "What a release must pass, in the service's own environment, before anything that runs is touched.",
});

/** The same for a venv, whose distributions have to fit together as well. */
export const venvChecks = strict({ ...checks.shape, accept: open(venvInputs.shape.accept) }).meta({
    id: "venvChecks",
    description:
        "What a release must pass: its distributions together, and the rest for each service that runs from it.",
});

export type ChecksConfig = z.infer<typeof checks>;

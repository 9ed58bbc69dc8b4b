import type { Outcome } from "./command";

/** What `pulumi preview --json` says, by the resources' names. */
export interface Plan {
    /** Name => operation (`create`, `update`, `delete`, `refresh`, …); unchanged ones are left out. */
    changes: Record<string, string>;
    /** Name => paths that differ, sorted. */
    paths: Record<string, string[]>;
    /** Messages, without colours, in order. */
    messages: string[];
}

interface Step {
    op: string;
    urn: string;
    detailedDiff?: Record<string, unknown> | null;
}

interface Document {
    steps?: Step[];
    diagnostics?: { message?: string; prefix?: string }[];
}

/** Reads the output of `preview --json`. */
export function plan(outcome: Outcome): Plan {
    const document = parse(outcome);
    const steps = (document.steps ?? []).filter((step) => step.op !== "same");
    return {
        changes: Object.fromEntries(steps.map((step) => [nameOf(step.urn), step.op])),
        paths: Object.fromEntries(steps.map((step) => [nameOf(step.urn), Object.keys(step.detailedDiff ?? {}).sort()])),
        messages: (document.diagnostics ?? []).map((one) => `${one.prefix ?? ""}${one.message ?? ""}`),
    };
}

function parse(outcome: Outcome): Document {
    try {
        return JSON.parse(outcome.stdout) as Document;
    } catch (error) {
        throw new Error(`${outcome.command}: no JSON (exit ${outcome.code})\n${outcome.output}`, { cause: error });
    }
}

/** `ct200-dflash` of `urn:pulumi:dev::sglang-fleet::…::ct200-dflash`. */
export function nameOf(urn: string): string {
    return urn.slice(urn.lastIndexOf("::") + 2);
}

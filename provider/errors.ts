import { HostError } from "./host/host";

const DETAIL_LINES = 30;

/** A failure as a person reads it: what failed where, the last lines of the host, the remedy. Never a stack. */
export function explain(error: unknown): string {
    if (error instanceof HostError) {
        return explainHostError(error);
    }
    return error instanceof Error ? error.message : String(error);
}

function explainHostError({ host, report }: HostError): string {
    const step =
        report.gate !== undefined
            ? `gate ${report.gate}: `
            : report.stage !== undefined
              ? `stage ${report.stage}: `
              : "";
    const facts = [
        ["where", report.where],
        ["found", report.found],
        ["expected", report.expected],
        ["restored", report.restored],
    ].filter((fact) => fact[1] !== undefined && fact[1] !== "");
    const detail = (report.detail ?? "").trimEnd().split("\n").slice(-DETAIL_LINES);
    return [
        `${host}: ${step}${report.message}`,
        ...facts.map(([name, value]) => `  ${name}: ${value}`),
        ...(detail.length === 1 && detail[0] === "" ? [] : detail.map((line) => `  | ${line}`)),
        ...(report.remedy === undefined ? [] : [`To mend it: ${report.remedy}`]),
    ].join("\n");
}

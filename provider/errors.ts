import { HostError } from "./host/host";

const DETAIL_LINES = 30;
/** What is shorter stands in a sentence by chance. */
const SHORTEST = 8;

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
    const head = `${host}: ${step}${report.message}`;
    const facts = [
        ["where", report.where],
        ["found", report.found],
        ["expected", report.expected],
        ["restored", report.restored],
    ].filter((fact) => fact[1] !== undefined && (fact[0] === "where" ? fact[1] !== "" : isNews(fact[1], head)));
    const detail = (report.detail ?? "")
        .trimEnd()
        .split("\n")
        .filter((line, _, all) => (line.trim() === "" ? all.length > 1 : isNews(line, head)))
        .slice(-DETAIL_LINES);
    return [
        head,
        ...facts.map(([name, value]) => `  ${name}: ${value}`),
        ...detail.map((line) => `  | ${line}`),
        ...(report.warnings ?? []).map((line) => `  a gate had warned: ${line}`),
        ...(report.remedy === undefined ? [] : [`To mend it: ${report.remedy}`]),
    ].join("\n");
}

/** What the first sentence says need not be said again. */
function isNews(text: string, head: string): boolean {
    const said = text.trim();
    return said !== "" && !(said.length >= SHORTEST && head.includes(said));
}

import { counted } from "../counted";
import type { VenvFacts } from "../host/facts";
import { cut, fromTo, mostLines } from "../told";

/** What was changed by hand in an adopted venv, of which another release is then made: packages, then files. */
export function tellMovedBase(base: VenvFacts["base"] | undefined): string[] {
    if (base?.kind !== "adopt" || base.moved == null) {
        return [];
    }
    const { packages, files, first } = base.moved;
    const lines = [
        ...Object.entries(packages).map(([name, [before, after]]) => `${name} ${fromTo(before, after)}`),
        ...first,
    ];
    const counts = `${counted(Object.keys(packages).length, "package")}, ${counted(files, "file")}`;
    return [
        `${base.path} was changed on the host: ${counts}`,
        ...cut(lines, mostLines(), files - first.length).map((line) => `  ${line}`),
    ];
}

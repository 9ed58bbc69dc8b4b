import { counted } from "../counted";
import type { Caused } from "../resource";
import { cut, fromTo, linesByCause, mostLines } from "../told";

/** Packages that differ, counted, then `name old → new` a line each, with who made the difference; undefined when none does. */
export function tellPackages(
    changes: Caused[],
    before: Record<string, string>,
    after: Record<string, string>,
): string | undefined {
    const packages = changes.filter(({ path }) => path[0] === "packages");
    if (packages.length === 0) {
        return undefined;
    }
    const lines = linesByCause(packages, ({ path, note }) => {
        const name = String(path[1]);
        return `${name} ${fromTo(before[name], after[name])}${note === undefined ? "" : ` (${note})`}`;
    });
    const count = counted(packages.length, "package");
    return [`${count}: ${names(packages)}`, ...cut(lines, mostLines()).map((line) => `  ${line}`)].join("\n");
}

/** A few names are a sentence, many are not. */
function names(packages: Caused[]): string {
    const all = packages.map(({ path }) => String(path[1]));
    return all.length <= 4 ? all.join(", ") : `${all.slice(0, 3).join(", ")} and ${all.length - 3} more`;
}

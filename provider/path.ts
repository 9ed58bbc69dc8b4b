/** A place in a value: names and indices from the top. */
export type Path = readonly (string | number)[];

/** As the engine writes it: `packages["torch"]`, `overlays[0].from`. Keys that are no identifiers are quoted. */
export function renderPath(path: Path): string {
    return path.reduce<string>((text, part) => {
        if (typeof part === "number") {
            return `${text}[${part}]`;
        }
        if (text === "") {
            return part;
        }
        return /^[A-Za-z_]\w*$/.test(part) ? `${text}.${part}` : `${text}[${JSON.stringify(part)}]`;
    }, "");
}

/** As detailed diffs want it: below the top-level name everything is bracketed, so that keys with dots stay one key. */
export function renderDetail(path: Path): string {
    const [top, ...rest] = path;
    return `${top}${rest.map((part) => `[${typeof part === "number" ? part : JSON.stringify(part)}]`).join("")}`;
}

/** Reads `a.b["c.d"][0]` and `a.*`, the forms of `ignoreChanges`. */
export function parsePath(text: string): Path {
    const parts: (string | number)[] = [];
    for (const match of text.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|\[(\*)\]|([^.[\]]+)/g)) {
        const [, index, quoted, star, plain] = match;
        parts.push(
            index !== undefined
                ? Number(index)
                : quoted !== undefined
                  ? (JSON.parse(quoted) as string)
                  : (star ?? plain),
        );
    }
    return parts;
}

/** Whether `path` is `prefix` or lies below it; `*` in the prefix stands for any one part. */
export function isBelow(path: Path, prefix: Path): boolean {
    return (
        prefix.length <= path.length && prefix.every((part, at) => part === "*" || String(part) === String(path[at]))
    );
}

/** What lies at a path of a value; undefined where the path leads nowhere. */
export function valueAt(value: unknown, path: Path): unknown {
    return path.reduce<unknown>(
        (inner, part) =>
            typeof inner === "object" && inner !== null ? (inner as Record<string | number, unknown>)[part] : undefined,
        value,
    );
}

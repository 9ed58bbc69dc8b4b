import { basename } from "node:path";

/** Name and version that a wheel's file name says; undefined when it is none. */
export function wheelName(path: string): { filename: string; name: string; version: string } | undefined {
    const filename = basename(path);
    const match = /^([^-]+)-([^-]+)(-\d[^-]*)?-[^-]+-[^-]+-[^-]+\.whl$/.exec(filename);
    return match === null ? undefined : { filename, name: normalName(match[1]), version: decodeURIComponent(match[2]) };
}

/** A distribution's name as PEP 503 normalises it. */
export function normalName(name: string): string {
    return name.toLowerCase().replace(/[-_.]+/g, "-");
}

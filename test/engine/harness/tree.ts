import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Which facts of a file count: `all` = mode, links, times and content; `content` = kind, mode and content. */
export type Closeness = "all" | "content";

/** Path below the folder => what it is. Two equal trees are two equal maps. */
export type Tree = Record<string, string>;

/** Everything below a folder, links not followed; `{}` when it is not there. */
export function tree(folder: string, closeness: Closeness = "all"): Tree {
    const found: Tree = {};
    const walk = (path: string, name: string): void => {
        found[name] = describe(path, closeness);
        if (lstatSync(path).isDirectory()) {
            for (const entry of readdirSync(path).sort()) {
                walk(join(path, entry), name === "." ? entry : `${name}/${entry}`);
            }
        }
    };
    if (lstatSync(folder, { throwIfNoEntry: false })) {
        walk(folder, ".");
    }
    return found;
}

function describe(path: string, closeness: Closeness): string {
    const stat = lstatSync(path, { bigint: true });
    const mode = stat.mode.toString(8);
    const exact = closeness === "all" ? ` ${stat.nlink} ${stat.mtimeNs} ${stat.ctimeNs}` : "";
    if (stat.isSymbolicLink()) {
        return `${mode}${exact} -> ${readlinkSync(path)}`;
    }
    if (!stat.isFile()) {
        return `${mode}${exact}`;
    }
    return `${mode}${exact} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`;
}

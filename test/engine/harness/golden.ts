import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { project } from "./workspace";

/** An id of 12 hex digits; a narrow screen may have cut it in two. */
const ID = /(?<![0-9a-z])[0-9a-f](?:\n?[0-9a-f]){11}(?![0-9a-z])/g;

/** A text in which what differs from run to run is the same: ids by the order in which they come, times, and the workspace's name. Places of line ends stay. */
function normal(text: string): string {
    const known = new Map<string, string>();
    return text
        .replace(ID, (found) => {
            const id = found.replace("\n", "");
            const name = known.get(id) ?? `id${String(known.size + 1).padStart(10, "0")}`;
            known.set(id, name);
            const at = found.indexOf("\n");
            return at < 0 ? name : `${name.slice(0, at)}\n${name.slice(at)}`;
        })
        .replace(/\b\d+(?:\.\d+)?s\b/g, "0s")
        .replace(/\bengine-test-\w{6}\b/g, "engine-test-000000")
        .replace(/[ \t]+$/gm, "");
}

/** Compares a text with the one that is kept in `test/engine/golden`; with RENEW_GOLDEN=1 it becomes the one that is kept. */
export function golden(name: string, text: string): void {
    const path = join(project, "test/engine/golden", name);
    if (process.env.RENEW_GOLDEN === "1") {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, normal(text));
    }
    assert.equal(
        normal(text),
        readFileSync(path, "utf8"),
        `${path}: RENEW_GOLDEN=1 npm test -- <this file> keeps what is shown now`,
    );
}

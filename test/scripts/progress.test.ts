import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const project = join(__dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "progress-"));
after(() => rmSync(folder, { recursive: true }));

/** What a line of progress says of a command whose log is this. */
function said(log: string): string {
    const file = join(folder, "log");
    writeFileSync(file, log);
    const script = `. "${project}/scripts/lib/progress.sh"; PROGRESS_LOG=$1; last_word npm`;
    return execFileSync("bash", ["-c", script, "-", file], { encoding: "utf8" });
}

test("a line of progress has the newest words of the command, or that there are none yet", () => {
    assert.equal(said("fetch one\nfetch two\n\n  \n"), "fetch two\n");
    assert.equal(said("10 %\r20 %\r30 %"), "30 %\n");
    assert.equal(said("\n"), "npm is at work and has said nothing yet\n");
    assert.equal(said(""), "npm is at work and has said nothing yet\n");
});

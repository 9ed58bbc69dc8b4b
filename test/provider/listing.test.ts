import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { it } from "node:test";
import { readListing } from "../../provider/donors/listing";

const project = resolve(__dirname, "../..");
/** Writes a listing of files of these names (bytes, as latin-1), as an agent does. */
const WRITE = `
import json, os, sys
from agent.donor import listing
names = [os.fsdecode(name.encode("latin-1")) for name in json.loads(sys.argv[2])]
entries = [listing.Entry("site/" + name, "644", 1, "0" * 64) for name in names]
with open(sys.argv[1], "wb") as file:
    file.write(listing.text("x", "1", entries))
`;
/** The names that an agent makes of a request, as latin-1. */
const ASKED = `
import json, os, sys
print(json.dumps([os.fsencode(place)[5:].decode("latin-1") for place in json.load(sys.stdin)]))
`;

it("an agent is asked for a file of a donor by its name, of whatever bytes it is", async () => {
    const names = [
        "a",
        "a\\xffb",
        "a\\tb",
        "tab\tb",
        "line\nb",
        "\xff\xfe.py",
        "\xc3\xbc",
        "\xe2\x80\xa8end",
        "x\r",
    ].sort();
    const folder = mkdtempSync(join(tmpdir(), "listing-"));
    try {
        const path = join(folder, "listing");
        const python = (text: string, args: string[], input = "") =>
            execFileSync("python3", ["-B", "-c", text, ...args], { cwd: project, input, encoding: "utf8" });
        python(WRITE, [path, JSON.stringify(names)]);
        const places = (await readListing(path)).map(({ place }) => place);
        assert.deepEqual((JSON.parse(python(ASKED, [], JSON.stringify(places))) as string[]).sort(), names);
    } finally {
        rmSync(folder, { recursive: true });
    }
});

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { fleetSchema, type Schema } from "../../scripts/reference/schema";
import { generated } from "../../scripts/reference/write";

const project = join(__dirname, "../..");

for (const [path, text] of Object.entries(generated())) {
    it(`${path} is what the schema says now (npm run reference)`, () => {
        assert.equal(readFileSync(join(project, path), "utf8"), text);
    });
}

it("every field of the config is described, and says what happens without it", () => {
    const { $defs = {}, ...top } = fleetSchema();
    const bare = Object.entries({ fleet: top as Schema, ...$defs }).flatMap(
        ([name, { properties = {}, required = [] }]) =>
            Object.entries(properties)
                .filter(
                    ([field, { description = "" }]) =>
                        !required.includes(field) &&
                        !/Default(:| for) |Either this|Needed with|not supported|`auto`: /.test(description),
                )
                .map(([field]) => `${name}.${field}`),
    );
    assert.deepEqual(bare, []);
});

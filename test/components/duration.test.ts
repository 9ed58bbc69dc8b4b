import assert from "node:assert/strict";
import { it } from "node:test";
import { duration } from "../../components/config/duration";

for (const [written, seconds] of [
    [90, 90],
    [0.5, 0.5],
    ["90s", 90],
    ["20m", 1200],
    ["2h", 7200],
    ["1h30m", 5400],
    ["1h1m1s", 3661],
    ["0s", 0],
] as const) {
    it(`a duration ${JSON.stringify(written)} is ${seconds} seconds`, () =>
        assert.equal(duration.parse(written), seconds));
}
for (const written of ["", "20", "m", "1m1h", "1d", "-1s", -1]) {
    it(`${JSON.stringify(written)} is no duration`, () => assert.equal(duration.safeParse(written).success, false));
}

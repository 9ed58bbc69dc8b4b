import assert from "node:assert/strict";
import { it } from "node:test";
import { GpuHost } from "../../components";
import { engine, settled } from "./mocks";

it("a host without generated keys and commands loads neither of the packages whose plugins they need", async () => {
    await engine();
    const services = { chat: { venv: "v", model: "m", port: 1, apiKey: "given" } };
    await settled(new GpuHost("here", { venvs: { v: { base: { adopt: "/v" } } }, services }).children);
    assert.deepEqual(
        Object.keys(require.cache).filter((file) => /@pulumi\/(random|command)\//.test(file)),
        [],
    );
});

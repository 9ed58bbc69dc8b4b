import assert from "node:assert/strict";
import { type Donated, donorScript } from "../../engine/harness";
import type { TestHost } from "../../hosts/testHost";

/** Makes a venv with these distributions on a host; of one that is there only what is named changes. */
export async function donateOn(host: TestHost, venv: string, distributions: Record<string, Donated>): Promise<void> {
    const argv = ["python3", "-I", "-S", "-B", "-c", donorScript, venv, JSON.stringify(distributions)];
    const { exit, stderr } = await host.exec(...argv);
    assert.equal(exit, 0, stderr);
}

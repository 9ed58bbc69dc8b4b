import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { inflateSync } from "node:zlib";
import { agentFolder, agentSources, bundle, imported } from "../../provider/host/bundle";

const PROJECT = join(__dirname, "../..");

test("the agent is found from the sources and from what is compiled of them", () => {
    assert.equal(agentFolder(join(PROJECT, "provider/host")), join(PROJECT, "agent"));
    assert.equal(agentFolder(join(PROJECT, "dist/provider/host")), join(PROJECT, "agent"));
});

test("the two parts together are all modules, and a look needs the first alone", (t) => {
    const read = (part: Buffer): Record<string, string> => JSON.parse(inflateSync(part).toString());
    const [first, rest] = [read(bundle().first), read(bundle().rest)];
    assert.deepEqual({ ...first, ...rest }, agentSources(join(PROJECT, "agent")));
    assert.ok("agent.look" in first && "agent.venv.make" in rest);
    t.diagnostic(`${bundle().first.length} bytes for a look, ${bundle().rest.length} for the rest`);
});

test("what counts is imported at once or by import_module, with the packages that it lies in", () => {
    const sources = {
        agent: "",
        "agent.look":
            'from agent.a import b, c as d\nimport agent.e\n\ndef f():\n    from agent.late import x\n    import_module("agent.lazy.one")\n',
        "agent.a": "",
        "agent.a.b": "from agent.a import nothing\n",
        "agent.a.c": "",
        "agent.e": "",
        "agent.late": "",
        "agent.lazy": "",
        "agent.lazy.one": "",
        "agent.other": "",
    };
    assert.deepEqual([...imported(sources, ["agent.look"])].sort(), [
        "agent",
        "agent.a",
        "agent.a.b",
        "agent.a.c",
        "agent.e",
        "agent.lazy",
        "agent.lazy.one",
        "agent.look",
    ]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { flagProblems, parseArgs, renderArgs, renderFlags } from "../../provider/resources/argv";
import { asDeclared, flagChanges } from "../../provider/resources/serviceFlags";

const served = { model: "/data/qwen", address: "127.0.0.1", port: 30001, flags: {}, extraArgs: [] };

test("fields come first, flags by name, extra arguments last", () => {
    const args = renderArgs({
        ...served,
        servedModelName: "qwen",
        flags: { tp_size: 2, "mem-fraction-static": 0.88 },
        extraArgs: ["--x", "1"],
    });
    assert.deepEqual(args, [
        ...["--model-path", "/data/qwen", "--served-model-name", "qwen", "--host", "127.0.0.1", "--port", "30001"],
        ...["--mem-fraction-static", "0.88", "--tp-size", "2", "--x", "1"],
    ]);
});

const renderings: [string, Parameters<typeof renderFlags>[0], string[]][] = [
    ["true is the bare flag", { "trust-remote-code": true }, ["--trust-remote-code"]],
    ["false is left out", { "trust-remote-code": false }, []],
    ["a list is its values after one flag", { "cuda-graph-bs": [1, 2, 4] }, ["--cuda-graph-bs", "1", "2", "4"]],
    ["an empty list is left out", { "cuda-graph-bs": [] }, []],
    ["underscores and leading dashes are spelling", { "--tp_size": 1 }, ["--tp-size", "1"]],
    ["a value that begins with a dash is tied to its flag", { "log-prefix": "-a" }, ["--log-prefix=-a"]],
    ["a negative number is tied to its flag", { seed: -1 }, ["--seed=-1"]],
    ["JSON stays one word", { "json-model-override-args": '{"a": 1}' }, ["--json-model-override-args", '{"a": 1}']],
    ["an empty text stays a word", { "chat-template": "" }, ["--chat-template", ""]],
    ["zero is a value", { "random-seed": 0 }, ["--random-seed", "0"]],
];
for (const [name, flags, args] of renderings) {
    test(name, () => assert.deepEqual(renderFlags(flags), args));
}

test("arguments are read back flag by flag", () => {
    assert.deepEqual(parseArgs(["first", "--a", "1", "--b", "--c=x=y", "--d", "1", "2", "--e_f", "-1"]), {
        flags: { a: "1", b: true, c: "x=y", d: ["1", "2"], "e-f": "-1" },
        rest: ["first"],
    });
});

test("a flag that is a field too, or is given twice, is refused by its path", () => {
    const problems = flagProblems({
        ...served,
        flags: { port: 1, tp_size: 1, "tp-size": 2, api_key: "x" },
        extraArgs: ["--host=0.0.0.0", "--tp-size", "4"],
    });
    assert.deepEqual(problems, [
        { path: ["flags", "port"], text: "--port has a field of its own: give `port`, and take it out here" },
        { path: ["flags", "tp-size"], text: "the same flag as `tp_size`" },
        { path: ["flags", "api_key"], text: "--api-key has a field of its own: give `apiKey`, and take it out here" },
        { path: ["extraArgs", 0], text: "--host has a field of its own: give `address`, and take it out here" },
        { path: ["extraArgs", 1], text: "--tp-size is given by `flags`" },
    ]);
});

test("flags of a process are shown in the spelling and type of their declaration", () => {
    const live = asDeclared(
        { "tp-size": "2", "mem-fraction-static": "0.88", "trust-remote-code": true, seed: "7" },
        { tp_size: 1, "mem-fraction-static": 0.88, "trust-remote-code": true, "skip-x": false },
    );
    assert.deepEqual(live, {
        tp_size: 2,
        "mem-fraction-static": 0.88,
        "trust-remote-code": true,
        seed: "7",
        "skip-x": false,
    });
});

test("only flags that differ in effect differ", () => {
    assert.deepEqual(flagChanges({ "tp-size": "2", a: true, c: "1" }, { tp_size: 2, b: true, c: 3, d: false }), [
        { path: ["flags", "a"], kind: "delete" },
        { path: ["flags", "b"], kind: "add" },
        { path: ["flags", "c"], kind: "update" },
    ]);
});

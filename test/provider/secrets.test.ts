import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { HostError } from "../../provider/host/host";
import { Secrets } from "../../provider/secrets";
import { bench, checked, created, eachTest, env, placed, service } from "./fixture";
import { asset, refused, type Values } from "./harness";

/** A value as the engine marks it. */
function secret(value: unknown): Values {
    return { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", value };
}

describe("secrets in a text", () => {
    const value = `p\\a'ss "w/ö?rd`;
    const secrets = new Secrets();
    secrets.learnFrom({ env: { A: value, SHORT: "abc", LINES: "first line\nsecond line\nx" } }, [["env"]]);

    const forms: Record<string, string> = {
        "as it is": value,
        "in JSON": JSON.stringify({ a: value }),
        "in JSON in JSON": JSON.stringify(JSON.stringify({ a: value })),
        "in a URL": `https://h/?key=${encodeURIComponent(value)}`,
        "in base64": Buffer.from(value).toString("base64"),
        "in base64 of something longer": Buffer.from(`user:${value}:more`).toString("base64"),
        "in base64 that begins a byte later": Buffer.from(`user1:${value}`).toString("base64"),
        "in base64 that begins two bytes later": Buffer.from(`user12:${value}`).toString("base64"),
        "in quotes of Python": `{'a': 'p\\\\a\\'ss "w/ö?rd'}`,
        "in quotes of a shell": `A='p\\a'\\''ss "w/ö?rd' python`,
    };
    for (const [form, text] of Object.entries(forms)) {
        test(`is taken out ${form}`, () => {
            const clean = secrets.redact(`before ${text} after`);
            assert.match(clean, /^before .*\[secret\].* after$/);
            // Of base64 in the middle of something only the digits at its edges may stay.
            assert.doesNotMatch(clean, /w\/ö|ss |c3Mg|cmQ6|d1wv/);
        });
    }

    test("an account in a URL is taken out whether it was marked or not", () => {
        assert.equal(
            secrets.redact('base["indexUrl"]: https://u:p@ss@h/simple => http://token@h:80/a@b, me@h'),
            'base["indexUrl"]: https://…@h/simple => http://…@h:80/a@b, me@h',
        );
    });

    test("each line of a longer one counts, and what is too short does not", () => {
        assert.equal(secrets.redact("> second line <, abc, x"), "> [secret] <, abc, x");
    });
});

describe("what the engine marks as a secret", () => {
    eachTest();
    const TOKEN = "hf_s3cr3t-token";
    const inputs = { ...env, variables: { A: secret(TOKEN), B: "plain" } };

    test("comes back marked, key by key, from check, create, read and update", async () => {
        const { state, inputs: known, id } = await created("EnvVars", inputs);
        assert.deepEqual(known.variables, { A: secret(TOKEN), B: "plain" });
        assert.deepEqual(state.variables, { A: secret(TOKEN), B: "plain" });
        assert.deepEqual(bench.host.facts.envs.s?.variables, { A: TOKEN, B: "plain" });
        const read = await bench.provider.read("EnvVars", id, state, known);
        assert.deepEqual(read.state.variables, { A: secret(TOKEN), B: "plain" });
        assert.deepEqual(read.inputs.variables, { A: secret(TOKEN), B: "plain" });
        const { state: after } = await bench.provider.update("EnvVars", id, state, known, known);
        assert.deepEqual(after.variables, { A: secret(TOKEN), B: "plain" });
    });

    test("comes back marked from the host as well, when somebody changed it there", async () => {
        const { state, inputs: known, id } = await created("EnvVars", inputs);
        (bench.host.facts.envs.s as { variables: object }).variables = { A: "drifted", B: "c", C: "somebody's" };
        const { state: live } = await bench.provider.read("EnvVars", id, state, known);
        assert.deepEqual(live.variables, { A: secret("drifted"), B: "c", C: "(set, not managed)" });
    });

    test("is in no text: not in an error, not in a note, not of what failed half-way", async () => {
        bench.host.instead.set("env.stage", async (args) => {
            bench.host.done("env.stage", args);
            const detail = `A=${TOKEN} ${Buffer.from(`x${TOKEN}`).toString("base64")}`;
            throw new HostError("here", { code: "x", message: `cannot write ${TOKEN}`, detail });
        });
        const { message, left } = await refused(created("EnvVars", inputs));
        assert.match(message, /^here: cannot write \[secret\]\n {2}\| A=\[secret\] \S*\[secret\]\S*$/);
        assert.deepEqual(left?.reasons, [message]);
        assert.deepEqual(left?.properties.variables, { A: secret(TOKEN), B: "plain" });
    });

    test("in the body of a patch stays out of the diff that a preview shows", async () => {
        const text = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-KEY = None\n+KEY = 'hidden in a body'\n";
        const diff = secret(asset({ text, hash: "d".repeat(64) }));
        const patch = { ...placed, venv: "v", patches: [{ path: "x.py", diff }] };
        await bench.provider.create("SourcePatch", await checked("SourcePatch", patch), { preview: true });
        const [said = ""] = bench.provider.engine.kept;
        assert.match(said, /x\.py \(secret, not shown\)$/);
    });

    test("as an argument of the process is warned of, and not shown", async () => {
        const flagged = { ...service, flags: { "tp-size": 1, "x-token": secret(TOKEN) } };
        const known = await checked("SglangService", flagged);
        await bench.provider.create("SglangService", known, { preview: true });
        assert.deepEqual(bench.provider.engine.kept, [
            "flags holds a secret, and every user of the host can read a process's arguments (ps)\nTo mend it: give it by a variable of the environment, or as `apiKey`.",
        ]);
        const { id, state } = await bench.provider.create("SglangService", known);
        assert.deepEqual((state.flags as Values)["x-token"], secret(TOKEN));
        const other = await checked("SglangService", { ...flagged, flags: { "x-token": secret("n3w-token") } }, known);
        await bench.provider.update("SglangService", id, state, known, other, { preview: true });
        assert.equal(bench.provider.engine.kept.join().includes(TOKEN), false);
        assert.equal(bench.provider.engine.kept.join().includes("n3w-token"), false);
    });
});

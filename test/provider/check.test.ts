import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { FakeHost } from "./fakeHost";
import { asset, type Provider, UNKNOWN, type Values } from "./harness";
import { serve } from "./serve";

const placed = { connection: { name: "here", type: "local" }, root: "/srv/fleet" };
const service = { ...placed, name: "s", venv: "v", release: "0123456789ab", env: "e1", model: "/m", port: 30001 };
const a = asset({ text: "x = 1\n", hash: "a".repeat(64) });

const refusals: [string, string, Values, string[]][] = [
    [
        "all that is wrong is said at once, by path, with the nearest name",
        "EnvVars",
        { connection: { nam: "here", prot: 22 }, root: "srv", srvice: "s", variables: { A: 1 } },
        [
            "connection.name: expected string, found nothing",
            "connection.nam: unknown name; did you mean `name`?",
            "connection.prot: unknown name; did you mean `port`?",
            "root: expected an absolute path on the host, without `.`, `..`, `//` or a slash at its end",
            "service: expected string, found nothing",
            "variables.A: expected string, found a number",
            "srvice: unknown name; did you mean `service`?",
        ],
    ],
    [
        "a name that is near to none comes with the known ones",
        "SourcePatch",
        { ...placed, venv: "v", patches: [], zzzzzz: 1 },
        ["zzzzzz: unknown name; known here: connection, root, takeOver, venv, patches"],
    ],
    [
        "variables that no environment can hold are refused",
        "EnvVars",
        { ...placed, service: "s", variables: { "a-b": "", "1x": "", OK: "a\0b" } },
        [
            'variables["1x"]: not a name of a variable: expected letters, digits and `_`, not beginning with a digit',
            "variables.OK: its value has a NUL byte, which no environment can hold",
            'variables["a-b"]: not a name of a variable: expected letters, digits and `_`, not beginning with a digit',
        ],
    ],
    [
        "an overlay says which of its sources is wrong",
        "PackageOverlay",
        {
            ...placed,
            venv: "v",
            overlays: [
                { packages: ["x"], from: { indx: "torch==1" } },
                { from: { directory: "d" } },
                { from: { index: "torch" } },
                { from: {} },
            ],
        },
        [
            "overlays[0].from.indx: unknown name; did you mean `index`?",
            "overlays[1].packages: expected the names of the distributions that the source brings",
            "overlays[2].from.index: expected one pinned requirement like `torch==2.11.0+cu130`",
            "overlays[3].from: expected one of wheel, directory, archive, index, venv",
        ],
    ],
    [
        "files that are not there are named with the place where they were looked for",
        "PackageOverlay",
        {
            ...placed,
            venv: "v",
            overlays: [
                { from: { wheel: "no/x-1-py3-none-any.whl" } },
                { from: { wheel: "x.zip" } },
                { packages: ["x"], from: { directory: "no/dir" } },
            ],
        },
        [
            `overlays[0].from: no/x-1-py3-none-any.whl is not there (looked for from ${process.cwd()})`,
            "overlays[1].from: x.zip is not named like a wheel (name-version-python-abi-platform.whl)",
            `overlays[2].from: no/dir is not there (looked for from ${process.cwd()})`,
        ],
    ],
    [
        "a patch has one target and one content",
        "SourcePatch",
        {
            ...placed,
            venv: "v",
            patches: [
                { module: "a.b", path: "a/b.py", file: a },
                { path: "/etc/passwd", file: a },
                { module: "a.c" },
                { path: "x/../y", diff: a },
            ],
        },
        [
            "patches[0]: expected either `module` or `path`",
            "patches[1].path: expected a path below site-packages, without `..`",
            "patches[2]: expected either `file` or `diff`",
            "patches[3].path: expected a path below site-packages, without `..`",
        ],
    ],
    [
        "one file has one patch",
        "SourcePatch",
        {
            ...placed,
            venv: "v",
            patches: [
                { path: "a.py", file: a },
                { path: "a.py", file: a },
            ],
        },
        ["patches[1]: a.py has a patch before this one"],
    ],
    [
        "launch flags that are fields are refused",
        "SglangService",
        { ...service, flags: { port: 1, "api-key": "secret", tp_size: 1, "tp-size": 1 } },
        [
            'flags["api-key"]: --api-key has a field of its own: give `apiKey`, and take it out here',
            "flags.port: --port has a field of its own: give `port`, and take it out here",
            "flags.tp_size: the same flag as `tp-size`",
        ],
    ],
    [
        "a wrong kind and a wrong choice are said without the value",
        "SglangService",
        { ...service, port: "x", supervisor: "runit", apiKey: 7, limits: { nofile: "lots", rss: 1 } },
        [
            "port: expected number, found a string",
            "limits.nofile: expected number or infinity, found a string",
            "limits.rss: unknown name; known here: nofile, memlock, stack, core, nproc",
            "supervisor: expected one of auto, systemd, process, found a string",
            "apiKey: expected string, found a number",
        ],
    ],
];

describe("check", () => {
    let provider: Provider;
    const host = new FakeHost();
    before(async () => {
        provider = await serve(() => host);
    });
    after(() => provider.stop());

    for (const [name, type, inputs, reasons] of refusals) {
        test(name, async () => assert.deepEqual((await provider.check(type, inputs)).failures, reasons));
    }

    test("what an import read is judged without the ids that were made of it", async () => {
        const { inputs } = await provider.check("SglangService", service);
        assert.deepEqual((await provider.check("SglangService", inputs)).failures, []);
        assert.deepEqual((await provider.check("SglangService", { ...service, salt: "x" })).failures.length, 1);
    });

    test("defaults are filled in, ids are added, nobody is contacted", async () => {
        const { inputs, failures } = await provider.check("SglangService", service);
        assert.deepEqual(failures, []);
        assert.deepEqual(inputs.connection, { become: "none", connectTimeout: 15, name: "here", type: "local" });
        const { address, running, process, unit, keys, supervisor } = inputs;
        assert.deepEqual(
            { address, running, process, unit, keys, supervisor },
            {
                address: "127.0.0.1",
                running: "running",
                process: "current",
                unit: "as written",
                keys: "",
                supervisor: "auto",
            },
        );
        assert.equal(host.looks, 0);
    });

    test("what is not known yet is no mistake, and what follows from it is not known", async () => {
        const { inputs, failures } = await provider.check("EnvVars", {
            connection: { name: "here", host: UNKNOWN },
            root: "/srv/fleet",
            service: "s",
            variables: { A: UNKNOWN, B: "b" },
        });
        assert.deepEqual(failures, []);
        assert.deepEqual(inputs, {
            connection: { name: "here", host: UNKNOWN },
            root: "/srv/fleet",
            service: "s",
            variables: { A: UNKNOWN, B: "b" },
            digest: UNKNOWN,
        });
    });

    test("mistakes beside what is not known yet are still said", async () => {
        const { failures } = await provider.check("PackageOverlay", {
            ...placed,
            venv: UNKNOWN,
            overlays: [{ from: { wheel: UNKNOWN } }, { from: { wheel: "a", index: "b" } }, UNKNOWN],
            rot: 1,
        });
        assert.deepEqual(failures, [
            "overlays[1].from.index: unknown name; did you mean `index`?",
            "rot: unknown name; did you mean `root`?",
        ]);
    });

    test("the salt of an environment stays, so that its digest changes only with its values", async () => {
        const first = (await provider.check("EnvVars", { ...placed, service: "s", variables: { A: "1" } })).inputs;
        const again = (
            await provider.check(
                "EnvVars",
                { ...placed, service: "s", variables: { A: "1" } },
                { ...first, salt: "ab".repeat(16) },
            )
        ).inputs;
        assert.equal(again.salt, "ab".repeat(16));
        assert.notEqual(again.digest, first.digest);
    });

    test("an asset comes back as an asset", async () => {
        const { inputs } = await provider.check("SourcePatch", {
            ...placed,
            venv: "v",
            patches: [{ module: "a.b", file: a }],
        });
        assert.deepEqual(inputs.patches, [{ module: "a.b", file: a }]);
        assert.deepEqual(inputs.files, { "module:a.b": "file aaaaaaaaaaaa" });
    });
});

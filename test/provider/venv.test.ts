import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { unreachable } from "./fakeHost";
import { bench, created, eachTest, placed } from "./fixture";
import { asset, refused, UNKNOWN, type Values } from "./harness";
import { serve } from "./serve";

const adopting = { ...placed, name: "v", base: { adopt: "/root/venv" } };
const managed = {
    ...placed,
    name: "v",
    base: { python: "3.12", requirements: asset({ text: "sglang==0.5.23\n", hash: "c".repeat(64) }) },
};
const overlays = "d".repeat(64);

eachTest();
beforeEach(() => {
    bench.host.facts.adoptable = { "/root/venv": "f1" };
});

describe("the release of a venv", () => {
    test("of an adopted base is planned by a look at bench, and is the one that is made", async () => {
        const { inputs } = await bench.provider.check("Venv", adopting);
        assert.equal("release" in inputs, false);
        const planned = (await bench.provider.create("Venv", inputs, { preview: true })).state;
        assert.match(String(planned.release), /^[0-9a-f]{12}$/);
        assert.deepEqual(
            bench.host.calls.map(({ op }) => op),
            ["venv.foresee"],
        );
        const { state } = await bench.provider.create("Venv", inputs);
        assert.deepEqual({ ...state, owner: "" }, planned);
        const { recipe, base, release } = bench.host.calls[1].args as Values;
        assert.deepEqual(recipe, {
            version: 1,
            base: { kind: "adopt", path: "/root/venv", fingerprint: "f1" },
            overlays: "",
            patches: "",
        });
        assert.deepEqual([base, release], [{ adopt: "/root/venv" }, state.release]);
    });

    test("of a managed base is known without a look", async () => {
        const { inputs, failures } = await bench.provider.check("Venv", managed);
        assert.deepEqual(failures, []);
        assert.match(String(inputs.release), /^[0-9a-f]{12}$/);
        assert.equal(bench.host.looks, 0);
        const { state } = await bench.provider.create("Venv", inputs);
        assert.equal(state.release, inputs.release);
        assert.deepEqual(state.base, { python: "3.12", requirements: "cccccccccccc", noDeps: "true" });
    });

    test("shows as old and new once the host was looked at, and a repeated run changes nothing", async () => {
        const { id, state, inputs } = await created("Venv", adopting);
        const read = await bench.provider.read("Venv", id, state, inputs);
        const again = (await bench.provider.check("Venv", adopting, inputs)).inputs;
        assert.equal(again.release, state.release);
        assert.deepEqual((await bench.provider.diff("Venv", read.state, inputs, again)).paths, {});
        const news = (
            await bench.provider.check(
                "Venv",
                { ...adopting, overlays, packages: { torch: "2.11.0 dddddddddddd" } },
                inputs,
            )
        ).inputs;
        assert.deepEqual((await bench.provider.diff("Venv", read.state, inputs, news)).paths, {
            release: "UPDATE",
            'packages["torch"]': "ADD",
        });
        assert.equal(
            (await bench.provider.update("Venv", id, read.state, inputs, news, { preview: true })).state.release,
            news.release,
        );
    });

    test("follows the adopted base when somebody changes it", async () => {
        const { id, state, inputs } = await created("Venv", adopting);
        bench.host.facts.venvs.v.base = { kind: "adopt", path: "/root/venv", fingerprint: "f2" };
        const live = (await bench.provider.read("Venv", id, state, inputs)).state;
        const news = (await bench.provider.check("Venv", adopting, inputs)).inputs;
        assert.notEqual(news.release, state.release);
        assert.deepEqual((await bench.provider.diff("Venv", live, inputs, news)).paths, { release: "UPDATE" });
    });

    test("goes by what was copied once the adopted venv is gone", async () => {
        const { id, state, inputs } = await created("Venv", adopting);
        bench.host.facts.venvs.v.base = { kind: "adopt", path: "/root/venv", fingerprint: null };
        await bench.provider.read("Venv", id, state, inputs);
        assert.equal((await bench.provider.check("Venv", adopting, inputs)).inputs.release, state.release);
        const other = (await bench.provider.check("Venv", { ...adopting, overlays }, inputs)).inputs;
        await bench.provider.update("Venv", id, state, inputs, other);
        const made = bench.host.calls.map(({ args }) => args.recipe as Values).at(-1);
        assert.deepEqual(made?.base, { kind: "adopt", path: "/root/venv", fingerprint: "f1" });
    });

    test("stays the recorded one while nobody can look and nothing is wanted otherwise", async () => {
        const { id, state, inputs } = await created("Venv", adopting);
        await bench.provider.read("Venv", id, state, inputs);
        const recorded = (await bench.provider.check("Venv", adopting, inputs)).inputs;
        await bench.provider.stop();
        bench.provider = await serve(() => bench.host);
        bench.host.away = unreachable();
        await bench.provider.read("Venv", id, state, recorded);
        const again = (await bench.provider.check("Venv", adopting, recorded)).inputs;
        assert.equal(again.release, recorded.release);
        const other = (await bench.provider.check("Venv", { ...adopting, overlays }, recorded)).inputs;
        assert.equal(other.release, undefined);
        assert.deepEqual((await bench.provider.diff("Venv", state, recorded, other)).paths, { overlays: "UPDATE" });
    });

    test("is not known while a layer is not", async () => {
        const { inputs } = await bench.provider.check("Venv", { ...managed, overlays: UNKNOWN });
        assert.equal(inputs.release, UNKNOWN);
    });

    test("is refused when the base was changed since the preview", async () => {
        const { id, state, inputs } = await created("Venv", adopting);
        await bench.provider.read("Venv", id, state, inputs);
        const news = (await bench.provider.check("Venv", { ...adopting, overlays }, inputs)).inputs;
        bench.host.facts.venvs.v.base = { kind: "adopt", path: "/root/venv", fingerprint: "f2" };
        const { message } = await refused(bench.provider.update("Venv", id, state, inputs, news));
        assert.match(
            message,
            /^here: the base of v was changed since the preview\n {2}found: it would make release [0-9a-f]{12}\n {2}expected: [0-9a-f]{12}\nTo mend it: look at `pulumi preview` again, then run `pulumi up`$/,
        );
    });

    test("cannot be planned of a base that is not there", async () => {
        const { inputs } = await bench.provider.check("Venv", { ...placed, name: "v", base: { adopt: "/no/venv" } });
        const { message } = await refused(bench.provider.create("Venv", inputs, { preview: true }));
        assert.equal(
            message,
            "here: /no/venv is no venv\n  where: /no/venv\n  expected: a directory with pyvenv.cfg and bin/python\nTo mend it: name the venv to adopt by its own directory, or let one be made from python and requirements",
        );
    });
});

test("going back to a release that is still there says that nothing is built", async () => {
    const { id, state, inputs } = await created("Venv", adopting);
    await bench.provider.read("Venv", id, state, inputs);
    const news = (await bench.provider.check("Venv", { ...adopting, overlays }, inputs)).inputs;
    const release = String(news.release);
    bench.host.facts.venvs.v.releases[release] = Object.values(bench.host.facts.venvs.v.releases)[0];
    await bench.provider.update("Venv", id, state, inputs, news, { preview: true });
    assert.deepEqual(bench.provider.engine.kept, [
        `here-Venv: release ${release} is still on the host: nothing is built`,
    ]);
});

test("going back to a release that was edited there says what is put back", async () => {
    const { id, state, inputs } = await created("Venv", adopting);
    await bench.provider.read("Venv", id, state, inputs);
    const news = (await bench.provider.check("Venv", { ...adopting, overlays }, inputs)).inputs;
    const release = String(news.release);
    bench.host.facts.venvs.v.releases[release] = Object.values(bench.host.facts.venvs.v.releases)[0];
    bench.host.instead.set("venv.diff", async ({ release: asked, files }) => ({
        drift:
            asked === release
                ? [
                      { path: "a/x.py", kind: "edited" },
                      { path: "a/y.py", kind: "extra" },
                  ]
                : null,
        patches: [],
        files: (files as string[]).map((path) => ({ path, added: 1, removed: 1, lines: ["-1", "+2"], more: 0 })),
    }));
    await bench.provider.update("Venv", id, state, inputs, news, { preview: true });
    assert.deepEqual(bench.provider.engine.kept[0]?.split("\n"), [
        `here-Venv: release ${release} is still on the host, but was changed there; up puts back what it was made of`,
        "  a/x.py edited",
        "  a/y.py added",
        "--- a/x.py (as made → on the host)",
        "-1",
        "+2",
    ]);
});

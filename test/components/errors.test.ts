import assert from "node:assert/strict";
import { it } from "node:test";
import { ConfigError, parseFleet } from "../../components/config";
import { context } from "./context";

const venv = { base: { adopt: "/root/ml-env" } };
const service = { venv: "v", model: "/data/m", port: 30000 };
const host = { services: ["s"] };

/** A fleet without a mistake: one host, one service, one venv. */
const good = { venvs: { v: venv }, services: { s: service }, hosts: { h: host } };

const table: [string, unknown, string[]][] = [
    ["no config", undefined, ["fleet: expected a mapping, found nothing"]],
    ["a list instead of a mapping", [], ["fleet: expected a mapping, found a list"]],
    ["no hosts", { venvs: { v: venv } }, ["fleet.hosts: is missing"]],
    ["a key of nobody's", { ...good, host: {} }, ["fleet: unknown key `host`; did you mean `hosts`?"]],
    [
        "slips in several places, all said at once",
        {
            venvs: { v: { base: { adopt: "/x", requirements: "a.txt", pyton: "3.12" } } },
            services: { s: { ...service, prot: 1, port: "30000", supervisor: "runit" } },
            hosts: { h: { services: "s" } },
        },
        [
            "fleet.venvs.v.base: unknown key `pyton`; did you mean `python`?",
            'fleet.services.s.port: expected a number, found the text "30000"',
            'fleet.services.s.supervisor: expected `auto` or `systemd` or `process`, found the text "runit"',
            "fleet.services.s: unknown key `prot`; did you mean `port`?",
            'fleet.hosts.h.services: expected a list, found the text "s"',
        ],
    ],
    [
        "flags that are fields, beside other slips",
        {
            ...good,
            services: { s: { ...service, prot: 1, flags: { port: 5, "api-key": "k", tp_size: 1, "tp-size": 2 } } },
        },
        [
            "fleet.services.s.flags.port: --port has a field of its own: give `port`, and take it out here",
            "fleet.services.s.flags.api-key: --api-key has a field of its own: give `apiKey`, and take it out here",
            "fleet.services.s.flags.tp-size: the same flag as `tp_size`",
            "fleet.services.s: unknown key `prot`; did you mean `port`?",
        ],
    ],
    [
        "names that nothing has",
        { ...good, services: { s: { ...service, venv: "vv" } }, hosts: { h: { services: ["s", "t"], venvs: ["w"] } } },
        [
            "fleet.services.s.venv: no venv is named `vv`; known here: `v`",
            "fleet.hosts.h.venvs[0]: no venv is named `w`; known here: `v`",
            "fleet.hosts.h.services[1]: no service is named `t`; known here: `s`",
        ],
    ],
    [
        "names that every object of JavaScript has",
        {
            ...good,
            services: { s: { ...service, venv: "constructor" } },
            hosts: { h: { services: ["s", "toString"] } },
        },
        [
            "fleet.services.s.venv: no venv is named `constructor`; known here: `v`",
            "fleet.hosts.h.services[1]: no service is named `toString`; known here: `s`",
        ],
    ],
    [
        "the field of a placement",
        {
            ...good,
            hosts: {
                h: { services: [{ service: "s", port: "30002" }] },
                i: { services: [{ port: 1 }] },
                j: { services: [7] },
            },
        },
        [
            'fleet.hosts.h.services[0].port: expected a number, found the text "30002"',
            "fleet.hosts.i.services[0].service: is missing",
            "fleet.hosts.j.services[0]: expected the name of a service, or a mapping with `service`",
        ],
    ],
    [
        "the nearest name",
        {
            ...good,
            services: { dflash: service },
            hosts: { ct200: { services: ["dflsh"] } },
            rollout: { canary: ["ct20"] },
        },
        [
            "fleet.hosts.ct200.services[0]: no service is named `dflsh`; did you mean `dflash`?",
            "fleet.rollout.canary[0]: no host is named `ct20`; did you mean `ct200`?",
        ],
    ],
    [
        "a service that lacks what it needs",
        { ...good, services: { s: { venv: "v" } } },
        [
            "fleet.hosts.h.services[0]: service `s` has no `model`: set it there, in `defaults.service` or here",
            "fleet.hosts.h.services[0]: service `s` has no `port`: set it there, in `defaults.service` or here",
        ],
    ],
    [
        "two services on one port",
        { ...good, services: { s: service, t: service }, hosts: { h: { services: ["s", "t"] } } },
        ["fleet.hosts.h.services[1]: port 30000 is that of `services[0]` already"],
    ],
    [
        "one service twice under one name",
        { ...good, hosts: { h: { services: ["s", { service: "s", port: 30001 }] } } },
        ["fleet.hosts.h.services[1]: `services[0]` is named `s` already; give one of them another name with `as`"],
    ],
    [
        "GPUs said twice",
        { ...good, services: { s: { ...service, gpus: [1], env: { CUDA_VISIBLE_DEVICES: "0" } } } },
        ["fleet.hosts.h.services[0]: has both `gpus` and a variable CUDA_VISIBLE_DEVICES; say it once"],
    ],
    [
        "one machine under two names",
        { ...good, hosts: { h: host, i: { connection: { host: "h" } } } },
        ["fleet.hosts.i: is the same machine and root as `h`: a machine stands here once, or with another `root`"],
    ],
    [
        "two hosts whose resources would have one name",
        { ...good, venvs: { v: venv, "b-v": venv }, hosts: { a: { venvs: ["b-v"] }, "a-b": { venvs: ["v"] } } },
        ["fleet.hosts.a-b: a resource would be named `a-b-v`, like one of host `a`; rename what makes them so"],
    ],
    [
        "a donor that is no host, is not asked for names, or is none",
        {
            ...good,
            hosts: { h: { venvs: ["v"] } },
            venvs: {
                v: {
                    ...venv,
                    overlays: [
                        { packages: ["torch"], from: { host: "hh", venv: "/root/x" } },
                        { from: { venv: "/root/x" } },
                        { packages: ["torch"], from: { directory: "d", host: "h" } },
                        { packages: ["a", "nvidia-*"], from: { directory: "d", pin: true } },
                        { packages: ["a"], from: { archive: "https://x.example/a.tar.gz" } },
                        { packages: ["a"], from: { venv: "venvs/x" } },
                        { packages: ["a"], from: { venv: "/root/x", direct: "root@h" } },
                        { packages: ["a"], from: { host: "h", venv: "/root/x", direct: "-oProxyCommand=x" } },
                    ],
                },
            },
        },
        [
            "fleet.venvs.v.overlays[1].packages: is missing: a `venv` has many distributions; name those to take, or patterns such as `nvidia-*`",
            "fleet.venvs.v.overlays[2].from.host: goes with `venv`: it says where that lies",
            "fleet.venvs.v.overlays[3].from.pin: goes with `venv`: every other source says by itself what it brings",
            "fleet.venvs.v.overlays[3].packages: patterns are for a `venv`; the other sources bring what is named",
            "fleet.venvs.v.overlays[4].from.sha256: is missing: what a URL brings is compared with it",
            "fleet.venvs.v.overlays[6].from.direct: goes with `host`: it says how that is reached by the host that takes",
            "fleet.venvs.v.overlays[7].from.direct: expected `user@address`, or an alias of the host's ssh config",
            "fleet.venvs.v.overlays[0].from.host: no host is named `hh`; known here: `h`",
            "fleet.venvs.v.overlays[5].from: `venv` is `venvs/x`: expected an absolute path on the host",
        ],
    ],
    [
        "layers that say too much or too little",
        {
            ...good,
            venvs: {
                v: {
                    base: { python: "3.12" },
                    overlays: [{ from: { wheel: "w.whl", index: "x==1" } }, { from: { directory: "d" } }],
                    patches: [{ module: "a.b", path: "a/b.py", file: "f.py" }, { module: "a.b" }],
                },
            },
        },
        [
            "fleet.venvs.v.base.requirements: is missing: `python` makes a new venv from locked requirements",
            "fleet.venvs.v.overlays[0].from: expected exactly one of `wheel`, `directory`, `archive`, `index`, `venv`; found `wheel` and `index`",
            "fleet.venvs.v.overlays[1].packages: is missing: a `directory` does not say which distributions it brings",
            "fleet.venvs.v.patches[0]: expected exactly one of `module`, `path`; found `module` and `path`",
            "fleet.venvs.v.patches[1]: expected exactly one of `file`, `diff`; found none",
        ],
    ],
    [
        "files that are not there",
        {
            ...good,
            venvs: {
                v: {
                    base: { python: "3.12", requirements: "gone.txt" },
                    overlays: [{ packages: ["k"], from: { directory: "gone" } }],
                    patches: [{ module: "a", diff: "gone.diff" }],
                },
            },
        },
        [
            "fleet.venvs.v.base.requirements: no file `gone.txt` in the project (/project/gone.txt)",
            "fleet.venvs.v.overlays[0].from.directory: no directory `gone` in the project (/project/gone)",
            "fleet.venvs.v.patches[0].diff: no file `gone.diff` in the project (/project/gone.diff)",
        ],
    ],
    [
        "secrets that are not set, or stand in clear",
        { ...good, services: { s: { ...service, env: { A: { secret: "hfTokn" } }, apiKey: "letmein" } } },
        [
            "fleet.services.s.apiKey: expected `generate` or a reference { secret: NAME }; a key has no place in clear text in this file",
            "fleet.services.s.env.A: no secret is named `hfTokn` (pulumi config set --secret hfTokn); did you mean `hfToken`?",
        ],
    ],
    [
        "values that YAML has made something else of",
        { ...good, services: { s: { ...service, env: { DEBUG: true, RATIO: 1.1 } } } },
        [
            "fleet.services.s.env.DEBUG: expected a text, a whole number, null or { secret: NAME }, found true; put it in quotes to say which text is meant",
            "fleet.services.s.env.RATIO: expected a text, a whole number, null or { secret: NAME }, found 1.1; put it in quotes to say which text is meant",
        ],
    ],
    [
        "a duration, a share, a limit and a name of no known form",
        {
            ...good,
            services: { s: { ...service, ready: { timeout: "20 min" }, limits: { memlock: "all", files: 1 } } },
            hosts: { h: host, "a b": {} },
            rollout: { batch: "0%" },
        },
        [
            'fleet.services.s.limits.memlock: expected a whole number or `infinity`, found the text "all"',
            "fleet.services.s.limits: unknown key `files`; known here: `nofile`, `memlock`, `stack`, `core`, `nproc`",
            'fleet.services.s.ready.timeout: expected a duration such as `90s`, `20m` or `1h30m`, or a number of seconds, found the text "20 min"',
            'fleet.hosts["a b"]: expected letters, digits, `.`, `_`, `-` (at most 64), beginning with a letter or digit',
            'fleet.rollout.batch: expected a number of hosts such as 2, or a share such as `25%`, found the text "0%"',
        ],
    ],
    [
        "paths on a host that are relative to nothing",
        {
            venvs: { v: { base: { adopt: "ml-env" } } },
            services: { s: { ...service, model: "./m", log: "x.log" } },
            hosts: { h: { root: "fleet", services: ["s"] } },
        },
        [
            "fleet.hosts.h: `root` is `fleet`: expected an absolute path on the host",
            "fleet.hosts.h.services[0]: `log` is `x.log`: expected an absolute path on the host",
            "fleet.hosts.h.services[0]: `model` is `./m`: expected an absolute path on the host",
            "fleet.hosts.h: `adopt` of venv `v` is `ml-env`: expected an absolute path on the host",
        ],
    ],
    [
        "a root for all hosts that is relative to nothing on one of them",
        { ...good, defaults: { root: ".dev/x" }, hosts: { h: host, here: { connection: { type: "local" } } } },
        ["fleet.defaults: `root` is `.dev/x`: expected an absolute path on the host, for `h` is not `local`"],
    ],
];

for (const [mistake, raw, expected] of table) {
    it(`the config's errors name it: ${mistake}`, () => {
        assert.throws(
            () => parseFleet(raw, context),
            (error: ConfigError) => {
                assert.ok(error instanceof ConfigError, String(error));
                const [, ...lines] = error.message.split("\n");
                assert.deepEqual(
                    lines.map((line) => line.trim()),
                    expected,
                );
                return true;
            },
        );
    });
}

it("a config with errors says how many there are", () => {
    assert.throws(() => parseFleet([], context), { message: /^sglang-fleet:fleet has an error:\n {2}fleet: / });
    assert.throws(() => parseFleet({ a: 1 }, context), { message: /^sglang-fleet:fleet has 2 errors:\n/ });
});

it("the smallest config is a host by its name", () => {
    assert.deepEqual(Object.keys(parseFleet({ hosts: { ct129: {} } }, context).args.hosts), ["ct129"]);
});

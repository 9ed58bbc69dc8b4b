import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { answerDiff, declaredScript, project, type Seen } from "../../engine/harness";
import type { TestHost } from "../../hosts/testHost";
import { type Files, type HostStand, MODEL, PORT, ROOT, reached } from "../harness";

/** Stands for a value that no test can know before. */
export const ANY = "(any)";

/** A venv on the host that is adopted. */
export const THEIRS = "/opt/theirs";

/** Everything on a host that is declared, by content. */
export async function declared(host: TestHost): Promise<Files> {
    const { exit, stdout, stderr } = await host.exec(
        ...["python3", "-I", "-S", "-B", "-c", declaredScript(), ROOT],
        ...["/etc/systemd/system/sglang-*", "/etc/systemd/system/*.wants/sglang-*"],
    );
    assert.equal(exit, 0, stderr);
    return JSON.parse(stdout) as Files;
}

/** Hosts that serve `chat` from the venv `tiny`, and have `theirs` ready, an adopted one; `widget` can be upgraded, `gadget` be added. */
export async function declareDrift(stand: HostStand): Promise<void> {
    const { workspace, hosts } = stand;
    for (const [name, version] of [
        ["widget", "1.0"],
        ["widget", "2.0"],
        ["gadget", "1.0"],
    ]) {
        const files = `{"${name}/__init__.py": b"VERSION = '${version}'\\n", "${name}/data.json": b"{}\\n"}`;
        const make = `from test.standin.make_wheels import write_wheel; write_wheel("${workspace.folder}/wheels", "${name}", "${version}", ${files})`;
        execFileSync("python3", ["-B", "-c", make], { cwd: project });
    }
    const install = `cd / && uv venv -q --python /usr/bin/python3 ${THEIRS} && uv pip install -q --python ${THEIRS}/bin/python --no-index --find-links /opt/wheels sglang widget==1.0`;
    for (const made of await Promise.all(Object.values(hosts).map((host) => host.exec("sh", "-euc", install)))) {
        assert.equal(made.exit, 0, made.stderr);
    }
    const lock = ["--no-index", "sglang==0.5.23+standin", "pybase64==1.4.2+standin", "widget==1.0", ""];
    workspace.write("locks/standin.txt", lock.join("\n"));
    workspace.write("patches/answer.diff", answerDiff("Lyon."));
    const patches = [{ module: "sglang.srt.answer", diff: "patches/answer.diff" }];
    workspace.fleet({
        venvs: {
            tiny: {
                base: { python: "/usr/bin/python3", requirements: "locks/standin.txt", findLinks: ["/opt/wheels"] },
                overlays: [{ from: { wheel: "wheels/sgl_kernel-0.4.0+standin-py3-none-any.whl" } }],
                patches,
            },
            theirs: { base: { adopt: THEIRS }, patches },
        },
        services: {
            chat: {
                ...{ venv: "tiny", model: MODEL, address: "0.0.0.0", port: PORT, stopTimeout: "10s" },
                env: { GREETING: "hello" },
                ready: { timeout: "30s", stable: "1s" },
            },
        },
        hosts: Object.fromEntries(
            Object.entries(hosts).map(([name, host]) => [
                name,
                { connection: reached(host), services: ["chat"], venvs: ["theirs"] },
            ]),
        ),
    });
}

/** What a plain preview says below its tree of one host's resources. */
export function toldOf(output: string, host: string): string {
    const blocks = output.split(/^ {2,4}(?=\S+ \([^)]*\):$)/m);
    return blocks.filter((block) => block.split("\n", 1)[0]?.includes(` (${host}-`)).join("");
}

/** The rows of one host, by their names without the host's. */
export function seenOn(seen: Seen, host: string): Seen {
    const own = Object.entries(seen).filter(([row]) => row.startsWith(`${host}-`));
    return Object.fromEntries(own.map(([row, paths]) => [row.slice(host.length + 1), paths]));
}

/** What was seen, with ANY wherever that is expected and something is there. */
export function likened(seen: Seen, expected: Seen): Seen {
    const like = (value: unknown, wanted: unknown) => (wanted === ANY && value !== null ? ANY : value);
    return Object.fromEntries(
        Object.entries(seen).map(([row, paths]) => [
            row,
            Object.fromEntries(
                Object.entries(paths).map(([path, pair]) => {
                    const wanted = expected[row]?.[path];
                    return [path, [like(pair[0], wanted?.[0]), like(pair[1], wanted?.[1])]];
                }),
            ),
        ]),
    );
}

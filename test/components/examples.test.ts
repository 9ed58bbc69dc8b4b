import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { parseFleet } from "../../components/config";

// Pulumi's SDK brings it, and reads Pulumi.yaml by it.
const { load } = require("js-yaml") as { load(text: string): { config: Record<string, unknown> } };

const project = join(__dirname, "../..");
const examples = join(project, "examples");

/** The stack files of the project, by path. */
const stacks = [
    "Pulumi.dev.yaml",
    ...readdirSync(examples).flatMap((folder) =>
        readdirSync(join(examples, folder))
            .filter((file) => /^Pulumi\..+\.yaml$/.test(file))
            .map((file) => join("examples", folder, file)),
    ),
];

it("there is one example for each deployment that the project was made for", () => {
    assert.deepEqual(
        stacks.map((path) => path.split("/").at(-1)),
        ["Pulumi.dev.yaml", "Pulumi.extraction.yaml", "Pulumi.dflash.yaml", "Pulumi.hidden-states.yaml"],
    );
});

for (const path of stacks) {
    const { config } = load(readFileSync(join(project, path), "utf8"));
    const raw = config["sglang-fleet:fleet"] as { venvs: Record<string, { patches: Patch[] }> };

    it(`${path} is a config without errors or warnings, and its files are there`, () => {
        const context = {
            project,
            secrets: [],
            secret: (name: string) => name,
            exists: existsSync,
        };
        assert.deepEqual(parseFleet(raw, context).warnings, []);
    });

    it(`${path}: each diff is of the file that its patch names, and its counts are right`, () => {
        for (const { module, path: target, diff } of Object.values(raw.venvs).flatMap(({ patches }) => patches)) {
            if (diff !== undefined) {
                const file = target ?? `${module?.replaceAll(".", "/")}.py`;
                checkDiff(readFileSync(join(project, diff), "utf8"), file);
            }
        }
    });
}

it("the fleet of the README is a config without errors or warnings", () => {
    const [, yaml = ""] = /```yaml\n([\s\S]*?)```/.exec(readFileSync(join(project, "README.md"), "utf8")) ?? [];
    const context = { project, secrets: ["hfToken"], secret: (name: string) => name, exists: () => true };
    const { args, warnings } = parseFleet(load(yaml).config["sglang-fleet:fleet"], context);
    assert.deepEqual([Object.keys(args.hosts), warnings], [["ct200", "ct129", "ct201"], []]);
});

interface Patch {
    module?: string;
    path?: string;
    diff?: string;
}

function checkDiff(text: string, file: string): void {
    const [from, to, ...lines] = text.trimEnd().split("\n");
    assert.deepEqual([from, to], [`--- a/${file}`, `+++ b/${file}`]);
    const starts = lines.flatMap((line, index) => (line.startsWith("@@") ? [index] : []));
    for (const [index, start] of starts.entries()) {
        const [, olds = "1", news = "1"] = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(lines[start]) ?? [];
        const body = lines.slice(start + 1, starts[index + 1]);
        assert.equal(body.filter((line) => !line.startsWith("+")).length, Number(olds), lines[start]);
        assert.equal(body.filter((line) => !line.startsWith("-")).length, Number(news), lines[start]);
    }
}

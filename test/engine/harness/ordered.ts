/** Resources that do not depend on each other are shown in the order in which they happened to come. These give them one. */

const BRANCH = /^.{11}[├└]─ /;
const MESSAGES = /^ {2}\S+ \(\S+\):$/;
const BLOCK = /^( *)[ ~+-] ?\S+:index:\w+: \(/;

/** A preview as a tree: the rows of one host by their names, and the messages below it too. */
export function orderedTree(text: string): string {
    const rows = sortRuns(text.split("\n"), (line) => BRANCH.test(line), rowName).map((line, at, all) => {
        const last = !BRANCH.test(all[at + 1] ?? "");
        return BRANCH.test(line) ? line.replace(/[├└]─/, last ? "└─" : "├─") : line;
    });
    return blocks(rows, MESSAGES, /^(Outputs|Resources):/).join("\n");
}

/** A preview with --diff: the resources of one kind of step by type and id. */
export function orderedDiff(text: string): string {
    return blocks(text.split("\n"), BLOCK, /^( {2}pulumi| {4}--outputs|Resources:)/).join("\n");
}

function rowName(line: string): string {
    return line
        .trim()
        .split(/\s+/)
        .slice(1)
        .join(" ")
        .replace(/^[├└]─ /, "");
}

/** Sorts each run of lines that belong together. */
function sortRuns(lines: string[], belongs: (line: string) => boolean, key: (line: string) => string): string[] {
    const found: string[] = [];
    let run: string[] = [];
    const end = (): void => {
        found.push(...run.sort((a, b) => (key(a) < key(b) ? -1 : 1)));
        run = [];
    };
    for (const line of lines) {
        if (belongs(line)) {
            run.push(line);
        } else {
            end();
            found.push(line);
        }
    }
    end();
    return found;
}

/** Sorts blocks, each from a line that matches `first`, up to a line that matches `after`. */
function blocks(lines: string[], first: RegExp, after: RegExp): string[] {
    const found: string[] = [];
    let run: string[][] = [];
    const end = (): void => {
        found.push(...run.sort((a, b) => (a.slice(0, 2).join() < b.slice(0, 2).join() ? -1 : 1)).flat());
        run = [];
    };
    for (const line of lines) {
        if (first.test(line) && !after.test(line)) {
            run.push([line]);
        } else if (run.length > 0 && !after.test(line)) {
            run.at(-1)?.push(line);
        } else {
            end();
            found.push(line);
        }
    }
    end();
    return found;
}

import fc from "fast-check";

/** One edit of a release by hand. */
export interface HandEdit {
    /** Kind and file, for messages. */
    what: string;
    /** Shell that makes it, in site-packages. */
    shell: string;
    /** File below site-packages => how a preview names what is there; none = nothing that counts. */
    files: Record<string, string>;
    /** Whether it is of a file of an overlay, and meets all links of that: also the one in the staged tree. */
    staged: boolean;
    /** Files that a process may have loaded and that have other bytes now. */
    loaded: string[];
}

/** Those that meet all hard links of a file. */
const SHARED = ["in place", "with its old size and time", "another mode"];

/** How people and their tools edit a file `$f`: as shell, and how each file that it changes is named. */
const KINDS: Record<string, { shell: string; files: (path: string) => Record<string, string> }> = {
    "in place": { shell: "printf '# by hand\\n' >>$f", files: edited },
    "by rename": { shell: "cp -p $f $f.swp; printf '# by hand\\n' >>$f.swp; mv $f.swp $f", files: edited },
    "with its old size and time": {
        shell: "t=$(stat -c %y $f); printf '~' | dd of=$f bs=1 count=1 conv=notrunc status=none; touch -d \"$t\" $f",
        files: edited,
    },
    removed: { shell: "rm $f", files: (path) => ({ [path]: "missing" }) },
    "another mode": { shell: "chmod 600 $f", files: (path) => ({ [path]: "mode 644 → 600 on the host" }) },
    "a link instead": {
        shell: "mv $f $f.orig; ln -s $(basename $f).orig $f",
        files: (path) => ({ [path]: "edited on the host", [`${path}.orig`]: "added on the host" }),
    },
    "a folder instead": {
        shell: "rm $f; mkdir $f; echo 'x = 1' >$f/x.py",
        files: (path) => ({ [path]: "missing", [`${path}/x.py`]: "added on the host" }),
    },
    "one beside": {
        shell: "echo 'x = 1' >$(echo $f | sed 's/[.]py$//')_beside.py",
        files: (path) => ({ [path.replace(/\.py$/, "_beside.py")]: "added on the host" }),
    },
    "bytecode beside": {
        shell: "mkdir -p $(dirname $f)/__pycache__; echo >$(dirname $f)/__pycache__/x.cpython-399.pyc",
        files: () => ({}),
    },
};

function edited(path: string): Record<string, string> {
    return { [path]: "edited on the host" };
}

/** Edits of different files of these, three to six: what a seed makes of them, the same each time. */
export const handEdits = (files: string[]): fc.Arbitrary<HandEdit[]> =>
    fc
        .shuffledSubarray(files, { minLength: 3, maxLength: 6 })
        .chain((paths) =>
            fc.tuple(...paths.map((path) => fc.constantFrom(...Object.keys(KINDS)).map((kind) => edit(path, kind)))),
        );

function edit(path: string, kind: string): HandEdit {
    const { shell, files } = KINDS[kind] as (typeof KINDS)[string];
    const named = files(path);
    const loaded = Object.keys(named).filter((one) => one.endsWith(".py") && !named[one]?.startsWith("mode"));
    const staged = path.startsWith("sgl_kernel/") && SHARED.includes(kind);
    return { what: `${path} ${kind}`, shell: `f=${path}; ${shell}`, files: named, staged, loaded };
}

/** Runs of a property: `SGLANG_TEST_SEED` (default 4) and `SGLANG_TEST_ROUNDS` say which and how many; the seed belongs into each message. */
export function randomly<T>(arbitrary: fc.Arbitrary<T>, rounds: number): { seed: number; runs: T[] } {
    const seed = Number(process.env.SGLANG_TEST_SEED ?? 4);
    const numRuns = Number(process.env.SGLANG_TEST_ROUNDS ?? rounds);
    return { seed, runs: fc.sample(arbitrary, { seed, numRuns }) };
}

/** How a preview shows these edits of the venv `tiny`, whose file `sglang/srt/answer.py` is patched, and of the service that serves from it: the rows that there are. */
export function shownOf(edits: HandEdit[]): Record<"tiny" | "tiny-overlays" | "chat", Record<string, string | null>> {
    const patched = "sglang/srt/answer.py";
    const tiny = Object.fromEntries(
        edits.flatMap(({ files }) =>
            Object.entries(files).map(([path, word]) => [
                `files["${path === patched ? "module:sglang.srt.answer" : path}"]`,
                word,
            ]),
        ),
    );
    const loaded = edits.flatMap((one) => one.loaded);
    const count = `${loaded.length} changed file${loaded.length === 1 ? "" : "s"}`;
    const older = loaded.includes(patched) ? `; older than ${patched}` : "";
    return {
        tiny,
        "tiny-overlays": edits.some(({ staged }) => staged)
            ? { 'packages["sgl-kernel"]': "0.4.0+standin edited on the host" }
            : {},
        chat: loaded.length === 0 ? {} : { process: `runs from a release with ${count}${older}` },
    };
}

/** Rows in which something is. */
export const filled = (rows: Record<string, object>): Record<string, object> =>
    Object.fromEntries(Object.entries(rows).filter(([, paths]) => Object.keys(paths).length > 0));

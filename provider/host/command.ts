/**
 * What a login shell is given to start the agent. It is constant, and one word of plain characters after another: sh, bash,
 * csh and fish read it alike as long as the quoted parts hold no `'`, `!`, backslash or newline. All that varies comes on stdin.
 */

/** Written to stderr by sudo when it wants a password; nothing else is taken for that question. */
export const SUDO_PROMPT = "@sglang-sudo-prompt:";

/** Written to stdout once the shell runs as the user that the agent is to be: from here on stdin is ours. */
export const SHELL_READY = "@sglang-shell";

/** Written to stderr, with what was tried, when the host has no Python that is new enough. */
export const NO_PYTHON = "@sglang-no-python";

/** Versions that are tried by name, newest first, after `python3`. */
const VERSIONS = [14, 13, 12, 11, 10, 9, 8].map((minor) => `python3.${minor}`);

/** Where Pythons lie that a non-interactive PATH does not show. */
const PLACES = [
    "/usr/local/bin/python3",
    "/usr/bin/python3",
    "/opt/conda/bin/python3",
    '"$HOME"/miniconda3/bin/python3',
];

/** Reads `@sglang <marker> <bytes> <python>` (no python: look for one), then becomes Python, which reads the bundle. */
const SCRIPT = [
    `echo ${SHELL_READY}`,
    't=; until [ "$t" = @sglang ]; do read -r t m n p || exit 91; done',
    `b=$1; [ "$p" ] && set -- "$p" || set -- ${["python3", ...VERSIONS, ...PLACES].join(" ")}`,
    'for c; do "$c" -I -S -c "import sys; sys.exit(sys.version_info < (3, 8))" </dev/null >/dev/null 2>&1' +
        ' && exec "$c" -B -I -S -c "$b" "$m" "$n"; done',
    `echo "${NO_PYTHON} $*" >&2; exit 92`,
].join("; ");

/** Imports the agent from the bundle and hands stdin on: unread bytes are in this reader's buffer. */
const BOOTSTRAP =
    'import sys,os,json,zlib;i=os.fdopen(os.dup(0),"rb");b=json.loads(zlib.decompress(i.read(int(sys.argv[2]))).decode());' +
    'g={"__name__":"agent.bundle"};exec(b["agent.bundle"],g);g["start"](b,sys.argv[1],i)';

/** How the agent becomes root, if it does. */
export type Become = "none" | "sudo" | "sudo-with-password";

const BECOME: Record<Become, string> = {
    none: "",
    sudo: "sudo -n -H -- ",
    "sudo-with-password": `sudo -S -H -p ${SUDO_PROMPT} -- `,
};

/** The command line for the login shell. */
export function remoteCommand(become: Become): string {
    return `exec ${BECOME[become]}/bin/sh -c '${SCRIPT}' sglang '${BOOTSTRAP}'`;
}

/** The line that the command waits for. `python` may hold any character but a newline. */
export function startLine(marker: string, bytes: number, python?: string): string {
    return `@sglang ${marker} ${bytes} ${python ?? ""}\n`;
}

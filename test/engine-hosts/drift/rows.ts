import { createHash } from "node:crypto";
import { answerDiff, type Seen } from "../../engine/harness";
import { ROOT } from "../harness";
import { ANY, THEIRS } from "./index";

/** One change by hand, and what becomes of it. */
export interface Row {
    what: string;
    /** Shell on the host, as root. */
    edit: string;
    /** All that preview shows. */
    shows: Seen;
    /** What preview says of the host besides. */
    says?: RegExp[];
    /** Whether the repair replaces the process. */
    restarts?: boolean;
    /** What is no repair but a new release: a line that this shell then prints. */
    becomes?: { run: string; prints: string };
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 12);
const UNIT = "/etc/systemd/system/sglang-chat.service";
const SERVICE = `${ROOT}/services/chat`;
const SITE = `${SERVICE}/venv/lib/python3.11/site-packages`;
const PIP = `uv pip install -q --python $(readlink -f ${SERVICE}/venv)/bin/python --no-index --find-links /opt/wheels --link-mode copy`;
const ADOPTED = `uv pip install -q --python ${THEIRS}/bin/python --no-index --find-links /opt/wheels`;
/** site-packages of the wanted release of the adopted venv. */
const WANTED = `${ROOT}/venvs/theirs/releases/$(sed -n 's/^ "release": "\\(.*\\)",*$/\\1/p' ${ROOT}/venvs/theirs/venv.json)/lib/python3.11/site-packages`;
/** Writes over a file and gives it its old size and time back. */
const sneaky = (path: string, from: string, to: string) =>
    `f=${path}; t=$(stat -c %y $f); sed -i 's/${from}/${to}/' $f; touch -d "$t" $f`;

const venv = (paths: Record<string, [unknown, unknown]>): Seen => ({ tiny: paths });
const service = (paths: Record<string, [unknown, unknown]>): Seen => ({ chat: paths });
const edited = (path: string, word = "edited on the host"): Record<string, [unknown, unknown]> => ({
    [`files["${path}"]`]: [word, null],
});
const added = (...paths: string[]) => Object.assign({}, ...paths.map((path) => edited(path, "added on the host")));
/** A release in which something can be loaded that is not as it was made: the process may have loaded it. */
const suspicious = (files: number, more = "") =>
    process(`runs from a release with ${files} changed file${files === 1 ? "" : "s"}${more}`);
/** The patched file has one line, whoever changed it. */
const patched = {
    'files["module:sglang.srt.answer"]': ["edited on the host", `diff ${digest(answerDiff("Lyon."))}`],
} satisfies Record<string, [unknown, unknown]>;
const process = (word: string) => service({ process: [word, "current"] });
const unit = (word: string) => service({ unit: [word, "as written"] });

const ANSWER = "sglang/srt/answer.py";
const UTILS = "sglang/srt/utils/auth.py";

export const rows: Row[] = [
    {
        what: "a patched file edited",
        edit: `sed -i 's/Lyon/Rome/' ${SITE}/${ANSWER}`,
        shows: { ...venv(patched), ...suspicious(1, `; older than ${ANSWER}`) },
        restarts: true,
    },
    {
        what: "a patched file edited in place",
        edit: `echo '# by hand' >> ${SITE}/${ANSWER}`,
        shows: { ...venv(patched), ...suspicious(1, `; older than ${ANSWER}`) },
        restarts: true,
    },
    {
        what: "a patched file edited with its old size and time",
        edit: sneaky(`${SITE}/${ANSWER}`, "Lyon", "Rome"),
        shows: { ...venv(patched), ...suspicious(1, `; older than ${ANSWER}`) },
        restarts: true,
    },
    {
        what: "another file of sglang edited",
        edit: `sed -i 's/^import/# by hand\\nimport/' ${SITE}/${UTILS}`,
        shows: { ...venv(edited(UTILS)), ...suspicious(1) },
        restarts: true,
    },
    {
        what: "another file of sglang edited in place with its old size and time",
        edit: `f=${SITE}/${UTILS}; t=$(stat -c %y $f); printf '#' | dd of=$f bs=1 count=1 conv=notrunc status=none; touch -d "$t" $f`,
        shows: { ...venv(edited(UTILS)), ...suspicious(1) },
        restarts: true,
    },
    {
        what: "a file of an overlay edited with its old size and time",
        edit: sneaky(`${SITE}/sgl_kernel/__init__.py`, "e", "a"),
        shows: {
            ...venv(edited("sgl_kernel/__init__.py")),
            ...suspicious(1),
        },
        restarts: true,
    },
    {
        what: "a file of sglang removed",
        edit: `rm ${SITE}/${UTILS}`,
        shows: { ...venv(edited(UTILS, "missing")), ...suspicious(1) },
        restarts: true,
    },
    {
        what: "a file added to sglang",
        edit: `echo 'x = 1' > ${SITE}/sglang/srt/extra.py`,
        shows: {
            ...venv(edited("sglang/srt/extra.py", "added on the host")),
            ...suspicious(1),
        },
        restarts: true,
    },
    {
        what: "a mode changed",
        edit: `chmod 600 ${SITE}/${UTILS}`,
        shows: venv(edited(UTILS, "mode 644 → 600 on the host")),
    },
    {
        what: "a data file edited",
        edit: `echo '[]' >> ${SITE}/widget/data.json`,
        shows: venv(edited("widget/data.json")),
    },
    {
        what: "a distribution upgraded by an installer",
        edit: `${PIP} widget==2.0`,
        shows: {
            ...venv({
                'packages["widget"]': ["2.0", null],
                ...added(".lock"),
            }),
            ...suspicious(1),
        },
        says: [/widget 1\.0 → 2\.0, \d+ files/],
        restarts: true,
    },
    {
        what: "a distribution installed",
        edit: `${PIP} gadget`,
        shows: {
            ...venv({
                'packages["gadget"]': ["1.0", null],
                ...added(".lock"),
            }),
            ...suspicious(1),
        },
        says: [/gadget 1\.0 added, \d+ files/],
        restarts: true,
    },
    {
        what: "a distribution removed",
        edit: `uv pip uninstall -q --python $(readlink -f ${SERVICE}/venv)/bin/python widget`,
        shows: {
            ...venv({
                'packages["widget"]': ["missing", null],
                ...added(".lock"),
            }),
            ...suspicious(1),
        },
        says: [/widget 1\.0 removed, \d+ files/],
        restarts: true,
    },
    {
        what: "debris of an interrupted install",
        edit: `cp -r ${SITE}/widget ${SITE}/~idget`,
        shows: venv(added("~idget/__init__.py", "~idget/data.json")),
    },
    {
        what: "a second metadata folder of one distribution",
        edit: `cp -r ${SITE}/widget-1.0.dist-info ${SITE}/widget-0.9.dist-info`,
        shows: venv({ 'packages["widget"]': ["0.9 and 1.0", null] }),
    },
    {
        what: "the staged environment edited",
        edit: `sed -i 's/hello/goodbye/' ${SERVICE}/env-*.json`,
        shows: { "chat-env": { 'variables["GREETING"]': ["goodbye", "hello"] } },
    },
    {
        what: "the staged environment removed",
        edit: `rm ${SERVICE}/env-*.json`,
        shows: { "chat-env": { 'variables["GREETING"]': [null, "hello"] } },
    },
    {
        what: "the unit edited",
        edit: `sed -i 's/RestartSec=5/RestartSec=50/' ${UNIT}`,
        shows: unit("edited on the host; not reloaded since it was changed"),
    },
    {
        what: "the unit edited and reloaded",
        edit: `sed -i 's/RestartSec=5/RestartSec=50/' ${UNIT}; systemctl daemon-reload`,
        shows: unit("edited on the host"),
    },
    {
        what: "another [Install] section",
        edit: `sed -i 's/^WantedBy=.*/WantedBy=graphical.target/' ${UNIT}; systemctl reenable -q sglang-chat`,
        shows: unit("edited on the host"),
    },
    {
        what: "the unit replaced by a link to another one",
        edit: `cp ${UNIT} /opt/other.service; echo '# other' >> /opt/other.service; ln -sf /opt/other.service ${UNIT}; systemctl daemon-reload`,
        shows: unit("edited on the host; linked to /opt/other.service"),
    },
    {
        what: "the unit replaced by a link to an equal one",
        edit: `cp ${UNIT} /opt/other.service; ln -sf /opt/other.service ${UNIT}; systemctl daemon-reload`,
        shows: unit("linked to /opt/other.service"),
    },
    {
        what: "the unit removed while it runs",
        edit: `rm ${UNIT}; systemctl daemon-reload`,
        shows: unit("missing"),
    },
    {
        what: "a drop-in",
        edit: `mkdir -p ${UNIT}.d; printf '[Service]\\nExecStart=\\nExecStart=/bin/true\\n' > ${UNIT}.d/by-hand.conf; systemctl daemon-reload`,
        shows: unit(`drop-in ${UNIT}.d/by-hand.conf`),
    },
    {
        what: "a drop-in of this boot only",
        edit: "mkdir -p /run/systemd/system/sglang-chat.service.d; printf '[Service]\\nNice=5\\n' > /run/systemd/system/sglang-chat.service.d/by-hand.conf; systemctl daemon-reload",
        shows: unit("drop-in /run/systemd/system/sglang-chat.service.d/by-hand.conf"),
    },
    {
        what: "a drop-in that systemd has not read yet",
        edit: `mkdir -p ${UNIT}.d; printf '[Service]\\nNice=5\\n' > ${UNIT}.d/by-hand.conf`,
        shows: unit(`drop-in ${UNIT}.d/by-hand.conf; not reloaded since it was changed`),
    },
    {
        what: "the link removed that starts it at boot",
        edit: "rm /etc/systemd/system/*.wants/sglang-chat.service",
        shows: unit("disabled"),
    },
    {
        what: "a link to nothing instead of the unit",
        edit: `ln -sf /dev/null ${UNIT}`,
        shows: unit("masked"),
    },
    { what: "masked", edit: `rm ${UNIT}; systemctl mask -q sglang-chat`, shows: unit("masked") },
    { what: "disabled", edit: "systemctl disable -q sglang-chat", shows: unit("disabled") },
    {
        what: "stopped",
        edit: "systemctl stop sglang-chat",
        shows: service({ running: ["stopped", "running"] }),
        restarts: true,
    },
    {
        what: "crashed for good",
        edit: `systemctl stop sglang-chat; systemctl start sglang-chat; mkdir -p ${UNIT}.d; printf '[Service]\\nRestart=no\\n' > ${UNIT}.d/no.conf; systemctl daemon-reload; sleep 1; systemctl kill -s KILL sglang-chat; sleep 1; rm -r ${UNIT}.d; systemctl daemon-reload`,
        shows: service({ running: ["was ended by signal 9", "running"] }),
        restarts: true,
    },
    {
        what: "started by hand with other arguments",
        edit: `mkdir -p ${UNIT}.d; printf '[Service]\\nExecStart=\\nExecStart=${SERVICE}/venv/bin/python -m sglang.launch_server --model-path /srv/model --host 0.0.0.0 --port 8000 --tp-size 1\\n' > ${UNIT}.d/o.conf; systemctl daemon-reload; systemctl restart sglang-chat; sleep 3; rm -r ${UNIT}.d; systemctl daemon-reload`,
        shows: service({ 'flags["tp-size"]': ["1", null], process: [ANY, "current"] }),
        restarts: true,
    },
    {
        what: "a file put there again after the process started",
        // On the same file system: another one could give the copy the inode that has just become free.
        edit: `cp -p ${SITE}/${ANSWER} ${SITE}/${ANSWER}.again; mv ${SITE}/${ANSWER}.again ${SITE}/${ANSWER}`,
        shows: process(`older than ${ANSWER}`),
        restarts: true,
    },
    {
        what: "the stable link moved",
        edit: `ln -sfn $(ls -d ${ROOT}/venvs/theirs/releases/*/ | sed 's|/$||') ${SERVICE}/venv`,
        shows: service({ release: ["another interpreter", ANY], process: [ANY, "current"] }),
        restarts: true,
    },
    {
        what: "a distribution upgraded in an adopted base",
        edit: `${ADOPTED} widget==2.0`,
        shows: { theirs: { release: [ANY, ANY] } },
        says: [/widget 1\.0 → 2\.0/],
        becomes: { run: `grep -h VERSION ${WANTED}/widget/__init__.py`, prints: "VERSION = '2.0'" },
    },
    {
        what: "a distribution installed in an adopted base",
        edit: `${ADOPTED} gadget`,
        shows: { theirs: { release: [ANY, ANY] } },
        says: [/gadget \(none\) → 1\.0/],
        becomes: { run: `grep -h VERSION ${WANTED}/gadget/__init__.py`, prints: "VERSION = '1.0'" },
    },
    {
        what: "a distribution removed from an adopted base",
        edit: `uv pip uninstall -q --python ${THEIRS}/bin/python widget`,
        shows: { theirs: { release: [ANY, ANY] } },
        says: [/widget 1\.0 → \(none\)/],
        becomes: { run: `ls -d ${WANTED}/widget || echo none`, prints: "none" },
    },
];

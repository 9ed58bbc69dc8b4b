import fc from "fast-check";
import { filled, type HandEdit, handEdits, shownOf } from "../../engine/harness";
import { ROOT } from "../harness";

const UNIT = "/etc/systemd/system/sglang-chat.service";
const SERVICE = `${ROOT}/services/chat`;
const BY_HAND = `${UNIT}.d/by-hand.conf`;

/** Stands for all that is said of a process whose link leads elsewhere. */
const ASTRAY = "its link leads to …";

/** What is done to one host between two commands. */
export interface HostEdits {
    release: HandEdit[];
    /** To the staged environment, whose one variable is GREETING. */
    env: ("value" | "gone" | "more")[];
    unit: ("edited" | "drop-in" | "disabled")[];
    reloaded: boolean;
    /** The stable link leads to a release of another venv. */
    link: boolean;
    /** The server is stopped at last. */
    stopped: boolean;
}

/** Edits of a release with these files below site-packages, and of the service that runs from it. */
export const hostEdits = (files: string[]): fc.Arbitrary<HostEdits> =>
    fc.record({
        release: fc.oneof<fc.WeightedArbitrary<HandEdit[]>[]>(
            { weight: 3, arbitrary: handEdits(files) },
            { weight: 1, arbitrary: fc.constant<HandEdit[]>([]) },
        ),
        env: fc.constantFrom<HostEdits["env"][]>(
            [],
            ["value"],
            ["gone"],
            ["more"],
            ["value", "more"],
            ["gone", "more"],
        ),
        unit: fc.subarray<HostEdits["unit"][number]>(["edited", "drop-in", "disabled"]),
        reloaded: fc.boolean(),
        link: fc.nat(3).map((one) => one === 0),
        stopped: fc.nat(3).map((one) => one === 0),
    });

/** Shell that makes them, as root. */
export function shellOf({ release, env, unit, reloaded, link, stopped }: HostEdits): string {
    const json = { value: "v['GREETING'] = 'by hand'", gone: "del v['GREETING']", more: "v['MORE'] = 'by hand'" };
    const changes = env.map((one) => json[one]).join("; ");
    const rewrite = `import glob, json; p, = glob.glob('${SERVICE}/env-*.json'); d = json.load(open(p)); v = d['variables']; ${changes}; json.dump(d, open(p, 'w'))`;
    const ofUnit = {
        edited: `sed -i 's/RestartSec=5/RestartSec=50/' ${UNIT}`,
        "drop-in": `mkdir -p ${UNIT}.d; printf '[Service]\\nNice=5\\n' >${BY_HAND}`,
        disabled: "rm /etc/systemd/system/*.wants/sglang-chat.service",
    };
    return [
        `cd $(readlink -f ${SERVICE}/venv)/lib/python3.11/site-packages`,
        ...release.map(({ shell }) => shell),
        ...(env.length === 0 ? [] : [`python3 -c "${rewrite}"`]),
        ...unit.map((one) => ofUnit[one]),
        ...(reloaded ? ["systemctl daemon-reload"] : []),
        ...(link ? [`ln -sfn $(ls -d ${ROOT}/venvs/theirs/releases/*/ | sed 's|/$||') ${SERVICE}/venv`] : []),
        ...(stopped ? ["systemctl stop sglang-chat"] : []),
    ].join("\n");
}

/** All that a preview shows of them as being there, by row and path. */
export function expectedOf({ release, env, unit, reloaded, link, stopped }: HostEdits): Record<string, object> {
    const { tiny, chat: loaded, "tiny-overlays": overlays } = shownOf(release);
    const variables = {
        value: { 'variables["GREETING"]': "by hand" },
        gone: { 'variables["GREETING"]': null },
        // It may be a secret of somebody else.
        more: { 'variables["MORE"]': "(set, not managed)" },
    };
    const changed = unit.includes("edited") || unit.includes("drop-in");
    const words = [
        ...(unit.includes("edited") ? ["edited on the host"] : []),
        ...(unit.includes("disabled") ? ["disabled"] : []),
        ...(unit.includes("drop-in") ? [`drop-in ${BY_HAND}`] : []),
        ...(changed && !reloaded ? ["not reloaded since it was changed"] : []),
    ];
    const chat = {
        ...(words.length === 0 ? {} : { unit: words.join("; ") }),
        ...(stopped ? { running: "stopped" } : {}),
        ...(!stopped && link ? { release: "another interpreter", process: ASTRAY } : {}),
        ...(!stopped && !link ? loaded : {}),
    };
    const ofEnv = Object.assign({}, ...env.map((one) => variables[one]));
    return filled({ tiny, "tiny-overlays": overlays, chat, "chat-env": ofEnv });
}

/** The same of what was seen, with what no test can know before left out. */
export function simplified(seen: Record<string, Record<string, unknown>>): Record<string, object> {
    const { chat } = seen;
    const astray = String(chat?.process).startsWith("its link leads to ");
    return astray ? { ...seen, chat: { ...chat, process: ASTRAY } } : seen;
}

/** Whether the server is another one after an `up`. */
export function restarts(edits: HostEdits): boolean {
    const { chat = {} } = expectedOf(edits) as { chat?: object };
    return "process" in chat || "running" in chat;
}

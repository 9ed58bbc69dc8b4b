"""What the gates of one candidate said, as a table for people and in a file on the host."""

import os
import time

from agent.fault import Fault
from agent.files import atomic_write, read_json, write_json

WIDEST = 160


def table(gates):
    """Lines: gate, result, seconds, cause. A gate with several problems or warnings has a line for each."""
    rows = [("gate", "result", "seconds", "cause")]
    for gate in gates:
        told = [("failed", problem["text"]) for problem in gate["problems"]] + [
            ("warns", text) for text in gate["warnings"]
        ]
        if gate["ok"]:
            told.insert(0, ("passed", gate["note"]))
        for at, (result, cause) in enumerate(told):
            rows.append((gate["gate"] if at == 0 else "", result, "%.2f" % gate["seconds"] if at == 0 else "", cause))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return [_line(row, widths) for row in rows]


def _line(row, widths):
    text = "%s  %s  %s  %s" % (row[0].ljust(widths[0]), row[1].ljust(widths[1]), row[2].rjust(widths[2]), row[3])
    text = text.rstrip()
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


def write(path, release, args, gates):
    """`<path>.json` for programs, `<path>.txt` for people. What is secret was taken out before."""
    now = time.time()
    told = {"release": release, "args": args, "checked": now, "ok": all(gate["ok"] for gate in gates), "gates": gates}
    write_json(path + ".json", told, 0o600)
    head = "release %s, %s" % (release, time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now)))
    atomic_write(path + ".txt", "\n".join([head, ""] + table(gates) + [""]).encode("utf-8", "surrogateescape"), 0o600)


def refused(path):
    """RefusedFacts of provider/host/serviceFacts.ts: which gate did not let the last candidate pass, and why; None when it passed."""
    try:
        told = read_json(path + ".json")
    except Fault:
        return None  # a report only: what is wrong with it must not keep the rest from being seen
    failed = [gate for gate in told["gates"] if not gate["ok"]] if told else []
    if not failed:
        return None
    return {
        "release": os.path.basename(told["release"]),
        "args": told.get("args"),
        "checked": told["checked"],
        "gate": failed[0]["gate"],
        "text": failed[0]["problems"][0]["text"],
        "more": sum(len(gate["problems"]) for gate in failed) - 1,
    }

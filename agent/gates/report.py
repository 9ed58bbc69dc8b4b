"""What the gates of one candidate said, as a table for people and in a file on the host."""

import time

from agent.files import atomic_write, write_json

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


def write(path, release, gates):
    """`<path>.json` for programs, `<path>.txt` for people. What is secret was taken out before."""
    now = time.time()
    told = {"release": release, "checked": now, "ok": all(gate["ok"] for gate in gates), "gates": gates}
    write_json(path + ".json", told, 0o600)
    head = "release %s, %s" % (release, time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now)))
    atomic_write(path + ".txt", "\n".join([head, ""] + table(gates) + [""]).encode("utf-8", "surrogateescape"), 0o600)

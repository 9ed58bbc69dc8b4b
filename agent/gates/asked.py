"""Asks the candidate's interpreter all that the live gates want to know, in another start where what was laid has ended the first one."""

import time

from agent.gates import probe
from agent.gates.ended import broken

#: Seconds below which another start is not worth it.
LEAST = 2


def ask(candidate, cancelled=lambda: False, progress=None):
    """(Outcome of the last start, Answer): a result for each gate that was reached, also for the one in which the interpreter ended."""
    end = time.monotonic() + probe.limit(candidate)
    outcome, answer = probe.ask(candidate, probe.limit(candidate), (), cancelled, progress)
    whole, parts = answer, []
    while not answer.done and answer.at == "laid":
        parts.append(_with(answer, broken(candidate, outcome, answer)))
        left = end - time.monotonic()
        if outcome.ended != "exited" or not answer.left or left < LEAST:
            break
        outcome, answer = probe.ask(candidate, left, answer.left, cancelled, progress)
    if "laid" in answer.gates:
        parts.append(_with(answer, answer.gates["laid"]))
    elif not answer.done and answer.at != "laid":
        gate = broken(candidate, outcome, answer)
        whole.gates[gate["gate"]] = gate
    if parts:
        whole.gates["laid"] = _joined(parts, answer.left)
    return outcome, whole


def _with(answer, gate):
    """The result of the gate of what was laid, with what was told before it ended."""
    problems = answer.found["problems"] + gate["problems"]
    return dict(gate, ok=not problems, problems=problems, warnings=answer.found["warnings"] + gate["warnings"])


def _joined(parts, left):
    """One result of those of several starts. left: the modules that none of them came to."""
    problems = [one for part in parts for one in part["problems"]]
    note = (
        "%d not imported" % len(left) if left else parts[-1]["note"] if len(parts) == 1 else "in %d starts" % len(parts)
    )
    return {
        "gate": "laid",
        "ok": not problems,
        "seconds": round(sum(part["seconds"] for part in parts), 3),
        "note": note,
        "problems": problems,
        "warnings": [one for part in parts for one in part["warnings"]],
    }

"""The result of the gate in which the candidate's interpreter ended, or was ended, without an answer."""

import re
import signal

from agent.gates import probe

NOISE = ("<gates>", "<frozen ", "importlib/__init__.py", "Extension modules:", 'File "<string>"')
LINES = 12
DUMP = re.compile(r"^Timeout \(.*\)!$")
FRAME = re.compile(r'^  File "(.+)", line (\d+) in (.+)$')


def broken(candidate, outcome, answer):
    """A gate's result: how the interpreter ended, at which module, and what it said last."""
    gate = answer.at or "interpreter"
    at = " at %s" % answer.what if answer.what else ""
    lines = [line for line in outcome.output.splitlines() if line.strip() and not any(word in line for word in NOISE)]
    problem = {"detail": lines[-LINES:]}
    stood = stack(lines)
    if outcome.ended == "timeout":
        problem = late(candidate, answer, lines)
    elif gate == "laid" and stood and outcome.exit:
        where = place(stood[0], candidate)
        problem["text"] = "its import heeded no signal and was given up%s: it stood at %s" % (at, where)
    elif outcome.signal:
        problem["text"] = "the interpreter died of %s%s" % (signal.Signals(outcome.signal).name, at)
    elif answer.at is None:
        problem["text"] = "the interpreter did not start (exit %s)" % outcome.exit
    else:
        problem["text"] = "the interpreter ended by itself (exit %s)%s" % (outcome.exit, at)
    # All other gates have answered by then, and nothing that the service imports needs this.
    harmless = gate == "laid"
    return {
        "gate": gate,
        "ok": harmless,
        "seconds": round(outcome.seconds, 3),
        "note": "",
        "problems": [] if harmless else [problem],
        "warnings": [problem["text"]] if harmless else [],
    }


def late(candidate, answer, lines):
    """The problem of gates that were not done in time: at what they were, and where it stood just before."""
    limit = probe.limit(candidate)
    doing = {"imports": "importing", "laid": "importing", "interpreter": "starting"}.get(
        answer.at or "interpreter", "working"
    )
    what = "%s %s" % (doing, answer.what or "the interpreter") if doing != "working" else "it was at work"
    stood = stack(lines)
    where = ", at %s" % place(stood[0], candidate) if stood else ""
    return {
        "text": "timed out after the %g s that the gates may take: %s%s" % (limit, what, where),
        "detail": stood[:LINES] or lines[-LINES:],
        "remedy": "raise `checks.timeout` of the service (now %g s) if it only needs longer, else find what is waited for"
        % limit,
    }


def stack(lines):
    """The frames, innermost first, that faulthandler wrote of the thread that was at work."""
    starts = [at for at, line in enumerate(lines) if DUMP.match(line)]
    if not starts:
        return []
    threads, frames = [], []
    for line in lines[starts[-1] + 1 :]:
        if FRAME.match(line):
            frames.append(line)
        elif frames:
            threads.append(frames)
            frames = []
    return (threads + [frames])[-1] if frames else (threads or [[]])[-1]


def place(line, candidate):
    """`file:line (function)` of a frame, a file of site-packages relative to it."""
    file, number, function = FRAME.match(line).groups()
    site = candidate["site"].rstrip("/") + "/"
    return "%s:%s (%s)" % (file[len(site) :] if file.startswith(site) else file, number, function)

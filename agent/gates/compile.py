"""Gate 1: each Python file that we changed compiles with the release's own interpreter. Its bytecode is made by the way."""

import os

from agent.counted import counted
from agent.fault import Fault
from agent.venv import bytecode


def check(prefix, strict, lenient=(), check_cancelled=lambda: None):
    """Compiles files of the release at `prefix` (absolute paths); all syntax errors in one Fault.

    lenient: files as a wheel published them - some are for other Python versions, and nobody imports those here.
    """
    errors = bytecode.make(prefix, set(strict) | set(lenient), check=check_cancelled)
    wrong = [error for error in errors if error["path"] in set(strict)]
    if not wrong:
        return
    lines = [_line(prefix, error) for error in wrong]
    raise Fault(
        "does-not-compile",
        lines[0] + (" (and %s)" % counted(len(wrong) - 1, "more file") if len(wrong) > 1 else ""),
        gate="compile",
        where=wrong[0]["path"],
        found=wrong[0]["text"] or None,
        detail="\n".join(lines),
        remedy="correct the patch; nothing that runs was touched",
    )


def _line(prefix, error):
    place = os.path.relpath(error["path"], prefix)
    line = ", line %d" % error["line"] if error["line"] else ""
    text = ": %s" % error["text"] if error["text"] else ""
    return "%s%s: %s%s" % (place, line, error["message"], text)

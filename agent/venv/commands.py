"""Programs that build something for us: uv, pip, python. Their last lines go into progress, and into the fault when they fail."""

import collections
import os
import re
import signal
import subprocess
import threading

from agent.accounts import redacted
from agent.fault import Fault

LAST_LINES = 20
# What would make uv or pip work on another environment than the one they are told.
FOREIGN = (
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYTHONHOME",
    "PYTHONPATH",
    "PIP_TARGET",
    "PIP_PREFIX",
    "PIP_USER",
    "PIP_REQUIRE_VIRTUALENV",
    "__PYVENV_LAUNCHER__",
)


def run(request, argv, what, remedy=None, env=None):
    """Runs a program to its end; Fault `build-failed` with its last lines if it fails. A cancelled request ends it."""
    environment = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    environment.update(env or {})
    last = collections.deque(maxlen=LAST_LINES)
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
            cwd="/",
        )
    except OSError as error:
        raise Fault("build-failed", "cannot run %s: %s" % (argv[0], error.strerror), where=argv[0], remedy=remedy)
    reader = threading.Thread(target=_read, args=(process.stdout, last, request, what), daemon=True)
    reader.start()
    try:
        while process.poll() is None:
            request.check()
            try:
                process.wait(0.2)
            except subprocess.TimeoutExpired:
                continue
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        reader.join(5)
    if process.returncode != 0:
        raise Fault(
            "build-failed",
            "%s failed: %s" % (what, _cause(last)),
            where=argv[0],
            found="exit code %d" % process.returncode,
            detail="\n".join(last) or None,
            remedy=remedy,
        )


def _read(stream, last, request, what):
    for line in stream:
        text = redacted(line.decode("utf-8", "replace").rstrip())
        if text.strip():
            last.append(text)
            request.progress("%s: %s" % (what, text.strip()))
    stream.close()


def _cause(last):
    """The line that says most: the first that is an error, else the last."""
    for line in last:
        if re.match(r"\s*(error|ERROR|\u00d7)", line):
            return line.strip()
    return last[-1].strip() if last else "it said nothing"

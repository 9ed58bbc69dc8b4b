"""The gates one after the other, in one start of the interpreter: each writes its result as soon as it is known."""

import gc
import os
import sys
import time

from . import asserts, environment, flags, gpus, imports, interpreter, laid, origin
from .places import Places, home


class Report:
    """Writes one record per gate through `tell`."""

    def __init__(self, tell):
        self.tell = tell
        self.clock = time.monotonic()

    def begin(self, gate):
        self.clock = time.monotonic()
        self.tell({"at": gate})

    def end(self, gate, problems, warnings=(), note="", **more):
        told = [{"text": problem} if isinstance(problem, str) else problem for problem in problems]
        seconds = round(time.monotonic() - self.clock, 3)
        self.tell(
            dict(more, gate=gate, ok=not told, seconds=seconds, note=note, problems=told, warnings=list(warnings))
        )


def run(job, tell):
    report = Report(tell)
    if job["again"]:
        # Another start for what was not tried because something before it had ended the interpreter.
        report.begin("laid")
        cwd = os.getcwd() if job["cwd_first"] else None
        report.end("laid", [], note=laid.run(job, Places(job["release"], cwd, job["pythonpath"]), tell))
        return
    report.begin("interpreter")
    wrong = interpreter.problems(job)
    report.end("interpreter", wrong, note="%s, Python %d.%d.%d" % ((sys.executable,) + sys.version_info[:3]))
    if wrong:
        return  # what a wrong interpreter imports says nothing
    cwd = os.getcwd() if job["cwd_first"] else None
    places = Places(job["release"], cwd, job["pythonpath"])

    report.begin("imports")
    work = imports.Imports(job, places, tell)
    # What is imported stays: looking for garbage among it takes a fifth of the time (sglang.launch_server: 11 s, 8 s without).
    gc.disable()
    work.run()
    gc.enable()
    note = "; ".join(["%d modules loaded" % len(sys.modules)] + work.notes)
    report.end("imports", work.problems, uncompiled(), note)

    report.begin("origin")
    problems, warnings, files = origin.run(job, places)
    known = [problem["text"] for problem in work.hidden]
    problems = work.hidden + [told for told in problems if not any(told in text or text in told for text in known)]
    report.end("origin", problems, warnings, modules=files)

    report.begin("asserts")
    if work.problems or work.hidden:
        report.end("asserts", [], note="not evaluated: the imports failed" if job["asserts"] else "")
    else:
        report.end(
            "asserts",
            asserts.run(job["asserts"]),
            note="%d expression%s" % (len(job["asserts"]), "" if len(job["asserts"]) == 1 else "s"),
        )

    report.begin("gpus")
    if work.problems or work.hidden:
        report.end("gpus", [], note="not counted: the imports failed")
    else:
        wrong, note = gpus.run(job["args"])
        report.end("gpus", wrong, note=note)

    report.begin("flags")
    if job["flags"] and not work.hidden:
        problems, warnings, note = flags.run(job)
        report.end("flags", problems, warnings, note)
    else:
        report.end("flags", [], note="skipped" if job["flags"] else "not asked for")

    report.begin("environment")
    report.end("environment", [], environment.warnings(job["environment"], home("sglang", job["site"])))

    if job["laid"]:
        report.begin("laid")
        if work.problems or work.hidden:
            report.end("laid", [], note="not imported: the imports failed")
        else:
            report.end("laid", [], note=laid.run(job, places, tell))


def uncompiled():
    """A warning when each start of the service would compile much again, since its user may not write bytecode."""
    count = 0
    for module in list(sys.modules.values()):
        cached = getattr(getattr(module, "__spec__", None), "cached", None)
        count += bool(cached and cached.endswith(".pyc") and not os.path.exists(cached))
    if count < 100:
        return []
    return [
        "%d modules have no bytecode, and uid %d cannot write it: each start compiles them again" % (count, os.getuid())
    ]

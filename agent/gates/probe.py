"""Asks the candidate's own interpreter: one start of it, as `python -m MODULE` would see the world, runs all the gates."""

import json
import zlib

from agent.bundle import sources
from agent.gates import laid, sandbox

INSIDE = "agent.gates.inside"
# Seconds before its time is over at which the interpreter writes where it stands, for the error of a time-out.
LATE = 5

# Like `python -m`, the current directory comes first on sys.path, but only once our own imports are done: a file of the
# service's directory must not become part of the gates. `before` is what the interpreter loads by itself.
BOOT = """
import sys
before = set(sys.modules)
first = bool(sys.path) and sys.path[0] == ""
if first: del sys.path[0]
import os, json, zlib, types, importlib.abc, importlib.machinery, importlib.metadata, importlib.util
import argparse, ast, difflib, faulthandler, glob, hashlib, linecache, re, signal, site, sysconfig, time, traceback
job, answer = int(sys.argv[1]), int(sys.argv[2])
with os.fdopen(job, "rb") as file: job = json.loads(zlib.decompress(file.read()).decode())
os.set_inheritable(answer, False)
this = os.getpid()
def tell(record):
    data = json.dumps(record).encode() + b"\\n" if os.getpid() == this else b""
    while data: data = data[os.write(answer, data):]
class Inside(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        part = name.partition("_candidate_gates")[2].lstrip(".")
        if name.startswith("_candidate_gates") and part in job["sources"]:
            return importlib.machinery.ModuleSpec(name, self, is_package=not part)
    def exec_module(self, module):
        part = module.__name__.partition(".")[2]
        exec(compile(job["sources"][part], "<gates>/" + (part or "package"), "exec"), module.__dict__)
finder = Inside()
sys.meta_path.insert(0, finder)
from _candidate_gates import main
for part in job["sources"]:
    if part: __import__("_candidate_gates." + part)
sys.meta_path.remove(finder)
faulthandler.enable()
faulthandler.dump_traceback_later(job["late"])
job["late"] += time.monotonic()
sys.dont_write_bytecode = False
if first: sys.path.insert(0, os.getcwd())
sys.argv[:] = [job["module"]] + job["args"]
job.update(before=before, cwd_first=first, pythonpath=os.environ.get("PYTHONPATH", "").split(os.pathsep))
try:
    main.run(job, tell)
    tell({"done": True})
    sys.stdout.flush()
    os._exit(0)
except BaseException:
    # Python would wait for the threads that an import has started.
    traceback.print_exc()
    sys.stderr.flush()
finally:
    os._exit(1)
"""


class Answer:
    """What the probe has said: `gates` by name in order, `modules`, where it is (`at`, `what`), whether it is `done`.

    found: {problems, warnings} of the modules that were laid; left: those that were still to be imported after `what`.
    """

    def __init__(self, data):
        self.gates, self.modules, self.at, self.what, self.done = {}, {}, None, None, False
        self.found, self.left = {"problems": [], "warnings": []}, []
        for line in data.split(b"\n")[:-1]:
            record = json.loads(line.decode())
            if "gate" in record:
                self.modules.update(record.pop("modules", {}))
                self.gates[record["gate"]] = record
            elif "at" in record:
                self.at, self.what = record["at"], record.get("what")
            elif "left" in record:
                self.left = record["left"]
            elif "found" in record:
                for kind, told in record["found"].items():
                    self.found[kind] += told
            else:
                self.done = True


def inside():
    """{module name below `agent.gates.inside`: source}, the package itself by ""."""
    return {name[len(INSIDE) + 1 :]: text for name, text in sources().items() if (name + ".").startswith(INSIDE + ".")}


def limit(candidate):
    """Seconds that the gates in the interpreter may take."""
    return candidate["gates"].get("timeout") or 600


def job(candidate, seconds, again):
    """What the probe is told, as bytes."""
    gates = candidate["gates"]
    told = {
        "module": candidate["module"],
        "args": list(candidate["args"]),
        "release": candidate["release"],
        "site": candidate["site"],
        "imports": list(gates.get("imports") or []),
        "patched": list(gates.get("patched") or []),
        "asserts": list(gates.get("asserts") or []),
        "laid": again or laid.modules(candidate["release"], candidate["site"]),
        "again": bool(again),
        "accept": list(gates.get("acceptLibraries") or []),
        "flags": gates.get("flags", True),
        "environment": sorted(name for name in candidate["env"] if name.startswith("SGL")),
        "late": seconds - min(LATE, seconds / 2),
        "sources": inside(),
    }
    return zlib.compress(json.dumps(told).encode())


def ask(candidate, seconds, again=(), cancelled=lambda: False, progress=None):
    """(Outcome, Answer) of one start of the candidate's interpreter; progress(gate, module) follows it.

    seconds: how long it may take; again: the laid modules that are all that is asked this time.
    """
    last = []

    def watch(data):
        answer = Answer(data)
        if progress and last != [answer.at, answer.what]:
            last[:] = [answer.at, answer.what]
            progress(answer.at, answer.what)

    outcome = sandbox.run(
        lambda job_fd, answer_fd: [candidate["python"], "-c", BOOT, str(job_fd), str(answer_fd)],
        candidate["env"],
        candidate["cwd"],
        user=candidate.get("user"),
        group=candidate.get("group"),
        limits=candidate.get("limits"),
        job=job(candidate, seconds, list(again)),
        timeout=seconds,
        cancelled=cancelled,
        watch=watch,
    )
    return outcome, Answer(outcome.answer)

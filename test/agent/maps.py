"""What a real process has mapped, and what it opened one after the other, in the loader's own words (LD_DEBUG)."""

import glob
import os
import re
import subprocess
import tempfile

from agent.gates.static import symbols

OPENED = re.compile(r"file=(\S+) \[0\];  dynamically loaded by (\S+) \[0\]")
MAPS = "\nimport os, sys\nsys.stdout.write('@@' + open('/proc/self/maps').read())\nsys.stdout.flush()\nos._exit(0)\n"


def traced(python, code, environment):
    """(real paths of the mapped objects, [(file, by whom)] of each dlopen in order) of a process that runs `code`."""
    with tempfile.TemporaryDirectory() as scratch:
        debug = dict(environment, LD_DEBUG="files", LD_DEBUG_OUTPUT=os.path.join(scratch, "debug"))
        out = subprocess.check_output([python, "-c", code + MAPS], env=debug, cwd="/", stderr=subprocess.DEVNULL)
        # Processes that it started wrote files of their own; the first one is its own.
        first = min(glob.glob(os.path.join(scratch, "debug.*")), key=lambda path: int(path.rpartition(".")[2]))
        with open(first, errors="replace") as file:
            opened = [match.groups() for match in map(OPENED.search, file) if match]
    lines = [line.split(None, 5) for line in out.decode().partition("@@")[2].splitlines()]
    paths = {line[5] for line in lines if len(line) == 6 and line[5].startswith("/")}
    return {os.path.realpath(path) for path in paths if is_elf(path)}, opened


def is_elf(path):
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def replay(process, opened):
    """The same dlopens in our model of the process, those that the loader would refuse undone; (process, names refused)."""
    refused = []
    for name, by in opened:
        caller = next(
            (one for one in process.loaded if os.path.realpath(one.path) == os.path.realpath(by)), process.main
        )
        trial = process.fork()
        done = trial.dlopen(name, caller)
        if done.failed or symbols.unresolved(trial, done):
            refused.append(os.path.basename(name))
        else:
            process = trial
    return process, refused


def predicted(process):
    return {os.path.realpath(one.path) for one in process.loaded}

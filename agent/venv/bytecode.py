"""Bytecode beside its source: dropped where it could answer for an older text, made where a first start would wait for it."""

import errno
import json
import os
import subprocess
import threading

from agent.fault import Fault
from agent.files import names_in
from agent.venv import interpreter
from agent.venv.copying import link_or_none

# Runs in the venv's own interpreter: reads NUL-separated paths, compiles those without valid bytecode, says one JSON line for each
# that does not compile, and a dot for each hundred done.
COMPILER = r"""
import importlib.util, json, os, py_compile, struct, sys, warnings
warnings.simplefilter("ignore")
os.nice(5)
for number, path in enumerate(sys.stdin.buffer.read().split(b"\0")):
    if not path:
        continue
    path = os.fsdecode(path)
    try:
        target = importlib.util.cache_from_source(path)
        facts = os.stat(path)
        wanted = importlib.util.MAGIC_NUMBER + struct.pack("<LLL", 0, int(facts.st_mtime) & 0xFFFFFFFF, facts.st_size & 0xFFFFFFFF)
        try:
            with open(target, "rb") as file:
                if file.read(16) == wanted:
                    continue
        except OSError:
            pass
        py_compile.compile(path, target, doraise=True)
    except py_compile.PyCompileError as error:
        cause = error.exc_value
        print(json.dumps({"path": path, "line": getattr(cause, "lineno", None), "text": (getattr(cause, "text", None) or "").strip(),
                          "message": "%s: %s" % (type(cause).__name__, getattr(cause, "msg", cause))}), flush=True)
    except OSError as error:
        print(json.dumps({"path": path, "errno": error.errno}), flush=True)
    except (ValueError, RecursionError) as error:
        print(json.dumps({"path": path, "line": None, "text": "", "message": "%s: %s" % (type(error).__name__, error)}), flush=True)
    if number % 100 == 99:
        print(".", flush=True)
"""


def drop(source):
    """Removes all bytecode of one source file, also one that lies beside it in the old way."""
    folder, name = os.path.split(source)
    if not name.endswith(".py"):
        return
    stem = name[:-3]
    cache = os.path.join(folder, "__pycache__")
    found = [os.path.join(cache, one) for one in names_in(cache) if one.endswith(".pyc") and one.split(".")[0] == stem]
    for path in found + [os.path.join(folder, stem + ".pyc")]:
        try:
            os.unlink(path)
        except OSError as error:
            # Of a source whose name is as long as names may be there can be none.
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
                raise


def carry(old, new, paths):
    """Links bytecode from the tree `old` to the tree `new` for those of `paths` that are one inode in both: there it is as valid.

    paths: source files below the trees. Returns those that got theirs.
    """
    carried = set()
    for folder, names in _by_folder(paths).items():
        cache, target = (os.path.join(top, folder, "__pycache__") for top in (old, new))
        for name in names_in(cache):
            source = name.split(".")[0] + ".py"
            if (
                source not in names
                or not name.endswith(".pyc")
                or not _same(os.path.join(old, folder, source), os.path.join(new, folder, source))
            ):
                continue
            os.makedirs(target, exist_ok=True)
            if os.path.lexists(os.path.join(target, name)) or link_or_none(
                os.path.join(cache, name), os.path.join(target, name)
            ):
                carried.add(os.path.join(folder, source))
    return carried


def _by_folder(paths):
    found = {}
    for path in paths:
        folder, name = os.path.split(path)
        found.setdefault(folder, set()).add(name)
    return found


def _same(one, other):
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def sources(top):
    """All `.py` files below a folder."""
    found = []
    for folder, _folders, files in os.walk(top):
        found.extend(os.path.join(folder, name) for name in files if name.endswith(".py"))
    return found


def make(prefix, paths, told=lambda done: None, check=lambda: None):
    """Compiles files with the venv's own interpreter, as many at a time as there are processors (4 at most).

    Returns [{path, line, text, message}] of those that do not compile, sorted by path. told(done): how many files are through.
    """
    paths = sorted(paths)
    if not paths:
        return []
    workers = max(1, min(4, os.cpu_count() or 1, len(paths) // 50 + 1))
    done = [0] * workers
    errors = []

    def work(number):
        process = subprocess.Popen(
            [interpreter.python(prefix)] + interpreter.ISOLATED + ["-c", COMPILER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        running.append(process)
        threading.Thread(target=_feed, args=(process, paths[number::workers]), daemon=True).start()
        for line in process.stdout:
            if line.strip() == b".":
                done[number] += 100
            else:
                errors.append(json.loads(line.decode("utf-8")))
        process.stdout.close()
        if process.wait() != 0:
            broken.append(process.returncode)

    running, broken = [], []
    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(workers)]
    for thread in threads:
        thread.start()
    try:
        while any(thread.is_alive() for thread in threads):
            for thread in threads:
                thread.join(0.2)
            check()
            told(sum(done))
    except BaseException:
        for process in running:
            process.kill()
        raise
    if broken:
        raise Fault(
            "broken-python",
            "the interpreter %s ended with %d while it compiled" % (interpreter.python(prefix), broken[0]),
            where=interpreter.python(prefix),
        )
    for error in errors:
        if error.get("errno") in (errno.ENOSPC, errno.EDQUOT):
            raise OSError(error["errno"], os.strerror(error["errno"]), error["path"])
    # Bytecode that cannot be written is only missed; what is wrong with a text has a message.
    return sorted((error for error in errors if "message" in error), key=lambda error: error["path"])


def _feed(process, paths):
    try:
        process.stdin.write(b"\0".join(os.fsencode(path) for path in paths))
        process.stdin.close()
    except BrokenPipeError:
        pass

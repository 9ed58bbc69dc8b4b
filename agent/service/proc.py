"""Processes as /proc shows them. A pid alone names nothing for long: with its start tick it names one process for good."""

import collections
import os
import pwd
import time

from agent.offspring import fields_of
from agent.service.redact import shown

HZ = os.sysconf("SC_CLK_TCK")

Stat = collections.namedtuple("Stat", "pid state ppid group session ticks")


def stat(pid):
    """One process, or None when it is gone. `ticks` is its start in clock ticks since boot."""
    fields = fields_of(pid)
    if fields is None:
        return None
    return Stat(pid, fields[0].decode(), int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]))


def table():
    """Every process: pid => Stat."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            entry = stat(int(name))
            if entry is not None:
                found[entry.pid] = entry
    return found


def alive(pid, ticks=None):
    """Whether that very process is there and not a zombie."""
    entry = stat(pid) if pid else None
    return entry is not None and entry.state not in "ZX" and ticks in (None, entry.ticks)


def descendants(processes, *roots):
    """Pids below the roots, without them."""
    children = collections.defaultdict(list)
    for entry in processes.values():
        children[entry.ppid].append(entry.pid)
    found, todo = [], list(roots)
    while todo:
        below = [pid for pid in children[todo.pop()] if pid not in found]
        found += below
        todo += below
    return found


def started(ticks):
    """Start of a process in seconds since the epoch."""
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + ticks / HZ


def environ(pid):
    """Environment as bytes, name => value; None when it may not be read or was written over (setproctitle)."""
    blob = _read(pid, "environ")
    if blob is None:
        return None
    pairs = [line.partition(b"=") for line in blob.split(b"\0") if line]
    return {name: value for name, equals, value in pairs if equals}


def cmdline(pid):
    """Arguments as text with surrogates; [] for a kernel thread or one that is gone."""
    blob = _read(pid, "cmdline") or b""
    return [word.decode("utf-8", "surrogateescape") for word in blob.split(b"\0")[:-1]]


def exe(pid):
    try:
        return os.readlink("/proc/%d/exe" % pid)
    except OSError:
        return None


def mapped(pid, below):
    """Real paths of the files that a process has mapped below one directory (which ends with a slash)."""
    blob = _read(pid, "maps") or b""
    prefix = os.fsencode(below)
    found = set()
    for line in blob.split(b"\n"):
        at = line.find(prefix)
        if at != -1:
            found.add(os.fsdecode(line[at:]))
    return sorted(found)


def uid(pid):
    """User id of a process; None when it is gone."""
    try:
        return os.stat("/proc/%d" % pid).st_uid
    except OSError:
        return None


def user(pid):
    """Name of the user that a process runs as; its number when it has no name."""
    number = uid(pid)
    try:
        return "?" if number is None else pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def describe(pid):
    """A process for a message, without the keys in its arguments: `pid 4711 (user bob, python -m sglang.launch_server …, 3 h)`."""
    entry = stat(pid)
    if entry is None:
        return "pid %d (gone)" % pid
    words = " ".join(shown(cmdline(pid))) or "?"
    if len(words) > 120:
        words = words[:119] + "…"
    return "pid %d (user %s, %s, %s)" % (pid, user(pid), words, age(time.time() - started(entry.ticks)))


def age(seconds):
    """`42 s`, `3 min`, `5 h`, `2 d`."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return "%d %s" % (seconds // size, unit)
    return "%d s" % max(0, seconds)


def _read(pid, name):
    try:
        with open("/proc/%d/%s" % (pid, name), "rb") as file:
            return file.read()
    except OSError:
        return None

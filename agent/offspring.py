"""The processes below one that adopts what its descendants leave behind. Part of programs that stand alone (agent/alone.py)."""

import contextlib
import os

PR_SET_CHILD_SUBREAPER = 36


def prctl(option, value):
    """Whether it was done; not where the C library cannot be asked."""
    try:
        import ctypes

        return ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0
    except Exception:
        return False


def adopt_orphans():
    """Makes this process the parent of what its descendants leave behind, however they left their session. Whether it did."""
    return prctl(PR_SET_CHILD_SUBREAPER, 1)


def reaped():
    """(pid, wait status) of every child that has ended."""
    ended = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended.append((pid, status))


def below(root):
    """Pids of all descendants, nearest first; zombies too, until they are reaped."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            fields = fields_of(int(name))
            if fields:
                children.setdefault(int(fields[1]), []).append(int(name))
    found, level = [], [root]
    while level:
        level = sorted(child for pid in level for child in children.get(pid, []))
        found += level
    return found


def fields_of(pid):
    """/proc/PID/stat from the state on, or None."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            line = file.read()
    except OSError:
        return None
    return line[line.rindex(b")") + 2 :].split()


def ticks(pid):
    """When a process started, in clock ticks since boot: with the pid it names one process for good. None when it is gone."""
    fields = fields_of(pid)
    return int(fields[19]) if fields else None


def kill(pid, number):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)

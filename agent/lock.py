"""One changer at a time below a root: `<root>/lock`, held by flock, with a text that says by whom."""

import contextlib
import errno
import fcntl
import json
import os
import threading
import time

from agent.fault import Fault
from agent.files import explained
from agent.root import leave_unused_root, prepare_root

PAUSE = 0.1

_turns = {}
_turns_guard = threading.Lock()
_held = threading.local()


@contextlib.contextmanager
def locked(request, what):
    """Holds the lock of the request's root; `what` is said to those who wait. Nested use in one thread is one hold.

    Requests of this agent wait for each other as long as it takes (they are one command of one person); another agent is
    waited for `args["lockWait"]` seconds (60), then Fault `locked` names it. A cancelled request stops waiting.
    """
    root = request.layout.root
    depths = _held.__dict__.setdefault("depths", {})
    if depths.get(root):
        depths[root] += 1
        try:
            yield
        finally:
            depths[root] -= 1
        return
    with _turn(request, root):
        handle = _take(request, what)
        depths[root] = 1
        try:
            yield
        finally:
            depths[root] = 0
            # The text goes first: who reads it without holding the lock must not be told of someone who is done.
            os.ftruncate(handle, 0)
            try:
                leave_unused_root(request.layout)
            finally:
                os.close(handle)


@contextlib.contextmanager
def _turn(request, root):
    with _turns_guard:
        turn = _turns.setdefault(root, threading.Lock())
    while not turn.acquire(timeout=PAUSE):
        request.check()
    try:
        yield
    finally:
        turn.release()


def _take(request, what):
    wait = float(request.args.get("lockWait", 60))
    deadline = time.monotonic() + wait
    told = None
    while True:
        handle = _try(request.layout)
        if handle is not None:
            text = json.dumps(_who(request, what), sort_keys=True)
            os.ftruncate(handle, 0)
            os.pwrite(handle, text.encode("utf-8"), 0)
            return handle
        request.check()
        holder = _describe(request.layout.lock)
        if time.monotonic() >= deadline:
            raise Fault(
                "locked",
                "%s is being changed by %s" % (request.layout.root, holder),
                where=request.layout.lock,
                found=holder,
                remedy="wait until that is done; the lock goes with its process, so nothing has to be removed by hand",
            )
        if holder != told:
            request.progress("waiting up to %d s for %s" % (wait, holder))
            told = holder
        time.sleep(PAUSE)


def _try(layout):
    """An open and locked file, or None while another one holds it."""
    try:
        prepare_root(layout)
        handle = os.open(layout.lock, os.O_RDWR | os.O_CREAT, 0o644)
    except (OSError, Fault) as error:
        # The last owner was just removing the root: next time it is made anew.
        if isinstance(error, FileNotFoundError) or isinstance(error.__cause__, FileNotFoundError):
            return None
        if isinstance(error, Fault):
            raise
        raise explained(error, layout.lock) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The last owner removes the root with the lock in it: a lock on a file that is gone locks nobody out.
        if os.fstat(handle).st_ino == os.stat(layout.lock).st_ino:
            return handle
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES, errno.ENOENT):
            os.close(handle)
            raise
    os.close(handle)
    return None


def _who(request, what):
    by = request.args.get("by") or {}
    return {
        "host": by.get("host", "?"),
        "user": by.get("user", "?"),
        "pid": by.get("pid", 0),
        "since": time.time(),
        "operation": what,
        "agent": os.getpid(),
    }


def _describe(path):
    try:
        with open(path, encoding="utf-8") as stream:
            who = json.load(stream)
        since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(who["since"]))
        return "%(user)s@%(host)s (pid %(pid)s there, %(agent)s here), %(operation)s" % who + ", since " + since
    except (OSError, ValueError, TypeError, KeyError):
        return "someone who has just begun"

"""The log of a server that has no journal: its owner's only, and put aside when it is large. Part of the keeper (agent/alone.py)."""

import contextlib
import os
import shutil

LOG_SIZE = 64 * 1024 * 1024
LOG_FILES = 3


def open_log(path):
    """Its descriptor; the file is made again where somebody took it away. A server without a log is better than none."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)


def rotate(path):
    """Copies a large log aside and empties it: the server keeps the file open, and appends.

    A log that somebody moved away, or that cannot be copied, is left to them.
    """
    with contextlib.suppress(OSError):
        if os.path.getsize(path) < LOG_SIZE:
            return
        for number in range(LOG_FILES, 1, -1):
            older = "%s.%d" % (path, number - 1)
            if os.path.exists(older):
                os.replace(older, "%s.%d" % (path, number))
        copy_private(path, path + ".1")
        os.truncate(path, 0)


def copy_private(source, target):
    """Copies a log; keys stand in it, so nobody else may read the copy, not even while it grows."""
    try:
        with open(source, "rb") as old, open(
            os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb"
        ) as new:
            os.fchmod(new.fileno(), 0o600)
            shutil.copyfileobj(old, new)
    except OSError:
        # Half a copy would push the whole ones out, one more at each attempt.
        if os.path.exists(target):
            os.unlink(target)
        raise

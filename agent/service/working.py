"""Whether someone works on an activation, and what came of it."""

import errno
import fcntl
import os

from agent.files import read_json
from agent.service.systemctl import Systemctl


def result_of(place, job):
    """The result of this very job, or None while it has none."""
    result = read_json(place.activation("result.json"))
    return result if result is not None and result["id"] == job["id"] else None


def works(place, job):
    """Whether the service manager still has the activation, also while it waits to run it again."""
    if job["detached"] != "systemd":
        return False
    _, out, _ = Systemctl(user=os.geteuid() != 0).ask("is-active", place.activation_unit)
    return out.strip() in ("active", "activating", "deactivating", "reloading")


def held(place):
    """Whether a process holds the activation's lock."""
    try:
        lock = os.open(place.activation("lock"), os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in (errno.EAGAIN, errno.EACCES)
    finally:
        os.close(lock)
    return False

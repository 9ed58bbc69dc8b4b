"""One at a time makes layers, gives out addresses, makes the bridge and takes it away."""

import contextlib
import fcntl

from settings import STATE


@contextlib.contextmanager
def lock():
    STATE.mkdir(parents=True, exist_ok=True)
    with open(STATE / "lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

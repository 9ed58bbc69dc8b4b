"""The process that does an activation: started detached, from the agent's copy beside the journal.

`run ROOT SERVICE` does it; `watch` runs that and runs it again when it is killed; `recover` is for the boot.
"""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import time

from agent.files import read_json
from agent.layout import Layout
from agent.service.detach import argv_of
from agent.service.journal import Journal
from agent.service.place import Place

#: A run that fails by itself so often is given up; the next `activate` tries again.
RUNS = 8


def main(argv):
    verb, root, service = argv[:3]
    place = Place(Layout(root), service)
    job = read_json(place.activation("job.json"))
    if job is None or "spec" not in job:
        return 0
    os.umask(0o022)
    if verb == "recover":
        from agent.service import recover

        recover.at_boot(place, job, Journal(place.activation("journal.jsonl")))
        return 0
    # Who watches needs nothing of what is done: importing it would keep the one who does it waiting.
    if verb == "watch":
        return watch(place, job)
    lock = hold(place, argv[3:])
    if lock is None:
        return 0
    from agent.service.transaction import Activation

    Activation(place, job, Journal(place.activation("journal.jsonl"))).run()
    return 0


def hold(place, given):
    """The lock that says that someone is at work: inherited from the watcher, else taken. None: someone else has it."""
    if given:
        return int(given[0])
    lock = os.open(place.activation("lock"), os.O_RDWR | os.O_CREAT, 0o600)
    # Who only asks whether someone is at work holds it for a moment.
    for _ in range(20):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
        time.sleep(0.05)
    return None


def watch(place, job):
    """Runs the activation until it has a result; its death by a signal is no end."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    lock = hold(place, [])
    if lock is None:
        return 0
    for _ in range(RUNS):
        argv = argv_of(place, job, "run") + [str(lock)]
        if subprocess.call(argv, stdin=subprocess.DEVNULL, pass_fds=[lock]) == 0:
            return 0
        time.sleep(0.5)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Ending processes so that none is left: only those that are known to be ours, each by pid and start tick."""

import contextlib
import os
import signal
import time

from agent.counted import counted
from agent.fault import Fault
from agent.service import proc


def known(pids):
    """[(pid, ticks)] of those that are alive."""
    entries = [proc.stat(pid) for pid in pids]
    return [(entry.pid, entry.ticks) for entry in entries if entry is not None and entry.state not in "ZX"]


def send(processes, number):
    """Signals each process that is still the one it was."""
    for pid, ticks in processes:
        if proc.alive(pid, ticks):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def wait_gone(members, timeout, poll=0.05):
    """Waits until `members()` is empty; what is left after `timeout` seconds."""
    end = time.monotonic() + timeout
    while True:
        left = known(members())
        if not left or time.monotonic() >= end:
            return left
        time.sleep(poll)


def kill_all(members, timeout=20):
    """SIGKILL to whatever `members()` lists, again and again, as they may fork meanwhile. Fault: not-stopped."""
    end = time.monotonic() + timeout
    while True:
        left = known(members())
        if not left:
            return
        if time.monotonic() >= end:
            names = ", ".join(proc.describe(pid) for pid, _ in left)
            raise Fault(
                "not-stopped",
                "%s, not even by SIGKILL: %s"
                % (
                    counted(len(left), "process of the service does not end", "processes of the service do not end"),
                    names,
                ),
                found=names,
                expected="none",
                remedy="a process in state D waits for a device or a file system: see dmesg",
            )
        send(left, signal.SIGKILL)
        time.sleep(0.05)

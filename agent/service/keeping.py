"""What the keeper of a service says of itself. It is found by its command line when its file was lost: it goes on without it."""

import os

from agent.fault import Fault
from agent.files import read_json
from agent.service import proc


def said(place):
    """{phase, restarts, exit, keeper: [pid, ticks], main: [pid, ticks] or None} as the keeper wrote it, or as it is; {} without one."""
    written = read(place)
    if written.get("keeper") and proc.alive(*written["keeper"]):
        return written
    return seek(place) or written


def read(place):
    """What the keeper wrote; {} when it is not there, or is not what a keeper writes."""
    try:
        written = read_json(place.kept) or {}
    except (Fault, OSError):
        return {}
    return written if is_process(written.get("keeper")) and is_process(written.get("main") or [0, 0]) else {}


def seek(place):
    """The same of a keeper that runs, by its command line and user; None when there is none."""
    words = [place.keeper, place.launcher, place.spec, place.kept]
    processes = proc.table()
    for entry in processes.values():
        if proc.cmdline(entry.pid)[-4:] == words and proc.uid(entry.pid) == os.geteuid() and proc.alive(entry.pid):
            # It starts the server in a session of its own, before anything else can become its child.
            leaders = [one for one in processes.values() if one.ppid == entry.pid and one.session == one.pid]
            main = min(leaders, key=lambda one: one.ticks, default=None)
            return {
                "phase": "running" if main else "restarting",
                "restarts": 0,
                "exit": None,
                "keeper": [entry.pid, entry.ticks],
                "main": main and [main.pid, main.ticks],
            }
    return None


def is_process(value):
    return isinstance(value, list) and len(value) == 2 and all(isinstance(number, int) for number in value)

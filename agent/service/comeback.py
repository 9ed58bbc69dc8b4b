"""The server that was found on the port of a service: ended for that, and started again as it was when that fails."""

import os
import signal
import sys
import time

from agent.fault import Fault
from agent.files import atomic_write, read_json, write_json
from agent.service import proc, sockets, sweep
from agent.service.detach import start_detached
from agent.service.found import main_of, members, program_of, working_directory
from agent.service.probe import Probe
from agent.service.resident import source

#: Names in /proc/PID/limits of what the launcher can set.
LIMITS = {
    "Max open files": "nofile",
    "Max locked memory": "memlock",
    "Max stack size": "stack",
    "Max core file size": "core",
    "Max processes": "nproc",
}


def describe(pid):
    """All that is needed to start it again, in the form of a launcher's spec, and which process it was."""
    groups, gid = status(pid)
    return {
        "main": [pid, proc.stat(pid).ticks],
        "said": proc.describe(pid),
        "argv": [program_of(pid)] + proc.cmdline(pid)[1:],
        "environ": {os.fsdecode(name): os.fsdecode(value) for name, value in proc.environ(pid).items()},
        "cwd": working_directory(pid),
        "uid": proc.uid(pid),
        "gid": gid,
        "groups": groups,
        "limits": {},
        "wishes": limits(pid),
        "log": log_of(pid),
    }


def status(pid):
    """(groups, group) that it runs with."""
    with open("/proc/%d/status" % pid) as lines:
        fields = dict(line.split(":", 1) for line in lines)
    return [int(number) for number in fields["Groups"].split()], int(fields["Gid"].split()[1])


def limits(pid):
    with open("/proc/%d/limits" % pid) as lines:
        rows = {line[:26].strip(): line[26:].split()[0] for line in lines}
    return {name: rows[row].replace("unlimited", "infinity") for row, name in LIMITS.items() if row in rows}


def log_of(pid):
    """The file that its output goes to; nothing where that is no file."""
    for number in (1, 2):
        try:
            path = os.readlink("/proc/%d/fd/%d" % (pid, number))
        except OSError:
            continue
        if os.path.isfile(path):
            return path
    return os.devnull


class Comeback:
    """The server that was found before an activation, as `save` wrote it down beside the files of before."""

    def __init__(self, place):
        self.place = place
        self.path = place.previous("found.json")

    def save(self, pid):
        write_json(self.path, describe(pid), 0o600)

    def facts(self):
        """What was found; None when nothing was."""
        return read_json(self.path)

    def stop(self, timeout):
        """Ends it and all below it. Fault: not-stopped."""
        facts = self.facts()
        main = tuple(facts["main"])
        family = sweep.known(members(main[0])) if proc.alive(*main) else []
        sweep.send([main], signal.SIGTERM)
        sweep.wait_gone(lambda: [pid for pid, ticks in family if proc.alive(pid, ticks)], timeout)
        sweep.kill_all(lambda: [pid for pid, ticks in family if proc.alive(pid, ticks)])

    def start(self, spec, timeout, say):
        """Starts it as it was, unless it runs again already, and waits until it answers. Fault: not-ready."""
        facts = self.facts()
        if not self.runs(facts, spec):
            launcher = self.place.previous("launcher.py")
            atomic_write(launcher, source("agent.service.launcher").encode(), 0o644)
            say("starts the server again that was found there")
            start_detached([sys.executable, "-I", "-S", launcher, self.path], facts["log"])
        probe = Probe(spec["address"], spec["port"])
        end = time.monotonic() + timeout
        while True:
            # A server that wants a key says 401: it answers.
            yes, why = probe.ready(5)
            if yes or why.endswith(("401", "403")):
                return
            if time.monotonic() > end:
                raise Fault(
                    "not-ready",
                    "the server that was found there does not answer: %s" % why,
                    where=facts["log"],
                    found=why,
                    expected="an answer within %g s" % timeout,
                )
            time.sleep(0.2)

    def runs(self, facts, spec):
        """Whether the port is held again by a process of the same arguments: something else may have started it."""
        holders = sockets.holders(spec["address"], spec["port"])[0]
        return any(proc.cmdline(main_of(pid))[1:] == facts["argv"][1:] for pid in holders)

"""The `process` supervisor, for hosts without systemd: a keeper of our own. It does not outlive a reboot."""

import os
import signal
import sys
import time

from agent.alone import assembled
from agent.fault import Fault
from agent.files import atomic_write, read_json, remove_file
from agent.service import keeping, proc, sweep
from agent.service.detach import start_detached
from agent.service.logs import FileLog
from agent.service.resident import source
from agent.service.state import State
from agent.service.systemd import touch_private

#: The keeper, and before it what it imports: one program.
KEEPER = ("agent.offspring", "agent.service.serverlog", "agent.service.keeper")


class Process:
    """Keeps a service by `keeper.py`, which adopts and restarts it, in a session of its own."""

    kind = "process"

    def __init__(self, place):
        self.place = place

    def said(self):
        return keeping.said(self.place)

    def state(self):
        return state_of(self.said())

    def members(self):
        """Pids of the server: all below the keeper; without a keeper what can still be told to be ours."""
        said = self.said()
        keeper, main = said.get("keeper"), said.get("main")
        processes = proc.table()
        if keeper and proc.alive(*keeper):
            return proc.descendants(processes, keeper[0])
        return self.stranded(processes, main) if main else []

    def stranded(self, processes, main):
        """What a killed keeper left: below the main process, in its session, or with exactly our environment."""
        pid, ticks = main
        found = set()
        if proc.alive(pid, ticks):
            found |= {pid} | set(proc.descendants(processes, pid))
        spec = read_json(self.place.spec)
        if spec is None:
            return sorted(found)
        # Its own path in the environment (PATH, unless that is declared) tells it from another service's.
        ours = environ_of(spec)
        telling = any(os.fsencode(self.place.dir) in value for value in ours.values())
        # A pid stays taken as long as a session has it for its name: only a new process of that pid breaks the tie.
        session = pid if pid not in processes or processes[pid].ticks == ticks else None
        for entry in processes.values():
            if entry.ticks < ticks or entry.state in "ZX" or proc.uid(entry.pid) != spec["uid"]:
                continue
            if entry.session == session or (telling and proc.environ(entry.pid) == ours):
                found.add(entry.pid)
        return sorted(found | set(proc.descendants(processes, *found)))

    def log(self, spec):
        return FileLog(spec["log"])

    def install(self, spec):
        """Puts the keeper in place. It is started by `start` and ends with the service."""
        touch_private(spec["log"])
        atomic_write(self.place.keeper, assembled(KEEPER, source).encode(), 0o644)

    def start(self):
        """Starts the keeper and returns once it has started the launcher. Fault: not-started."""
        said = self.said()
        if said.get("keeper") and proc.alive(*said["keeper"]):
            return
        remove_file(self.place.kept)
        argv = [sys.executable, "-I", "-B", self.place.keeper, self.place.launcher, self.place.spec, self.place.kept]
        start_detached(argv, self.place.at("keeper.log"))
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if keeping.read(self.place):
                remove_file(self.place.at("keeper.log"))
                return
            time.sleep(0.05)
        raise Fault(
            "not-started",
            "the keeper of service %s did not start" % self.place.name,
            where=self.place.keeper,
            found=tail(self.place.at("keeper.log")),
            expected="a running keeper",
        )

    def stop(self, timeout):
        """Ends the server and its keeper, and all that is below them. Fault: not-stopped."""
        members = sweep.known(self.members())
        said = self.said()
        keeper = [tuple(said["keeper"])] if said.get("keeper") and proc.alive(*said["keeper"]) else []
        ending = keeper or [tuple(said["main"])] if said.get("main") else keeper
        sweep.send(ending, signal.SIGTERM)
        sweep.wait_gone(lambda: still(ending), timeout + (25 if keeper else 0))
        sweep.kill_all(lambda: sorted(set(still(keeper + members)) | set(self.members())))
        if said:
            remove_file(self.place.kept)

    def uninstall(self):
        for path in (self.place.keeper, self.place.kept):
            remove_file(path)


def state_of(said):
    """The state from what the keeper says and what is alive. Pure but for the looks at /proc."""
    phase, exit = said.get("phase"), said.get("exit")
    restarts = said.get("restarts", 0)
    main, keeper = said.get("main"), said.get("keeper")
    kept = keeper and proc.alive(*keeper)
    if main and proc.alive(*main):
        return State("running" if kept else "unkept", main[0], main[1], restarts, exit)
    if not said or phase == "stopped":
        failed = exit is not None and exit != "exited 0"
        return State("failed" if failed else "stopped", None, None, restarts, exit)
    if kept:
        return State("restarting", None, None, restarts, exit)
    return State("failed", None, None, restarts, exit or "ended together with its keeper")


def still(processes):
    """Pids of those that are alive as they were known."""
    return [pid for pid, ticks in processes if proc.alive(pid, ticks)]


def environ_of(spec):
    return {
        name.encode("utf-8", "surrogateescape"): value.encode("utf-8", "surrogateescape")
        for name, value in spec["environ"].items()
    }


def tail(path):
    try:
        with open(path, "rb") as file:
            return file.read()[-2000:].decode("utf-8", "replace").strip() or "nothing"
    except OSError:
        return "nothing"

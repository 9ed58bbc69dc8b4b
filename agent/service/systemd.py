"""The `systemd` supervisor: a unit that runs the launcher."""

import os
import shutil

from agent.fault import Fault
from agent.files import atomic_write, content
from agent.service import proc, sweep, unitfiles
from agent.service.logs import FileLog, JournalLog
from agent.service.state import State, ended
from agent.service.systemctl import Systemctl, version
from agent.service.unit import unit_text


class Systemd:
    """Keeps a service as a unit of the system manager, or of the user's own when the agent is not root."""

    kind = "systemd"

    def __init__(self, place):
        self.place = place
        self.ctl = Systemctl(user=os.geteuid() != 0)
        self.path = os.path.join(self.ctl.units, place.unit)

    def show(self):
        return self.ctl.show([self.place.unit])[self.place.unit]

    def state(self):
        return state_of(self.show())

    def members(self):
        """Pids in the unit's control group."""
        group = self.show()["ControlGroup"]
        return in_group(group) if group else []

    def log(self, spec):
        return FileLog(spec["log"]) if spec["log"] else JournalLog(self.place.unit, self.ctl.user)

    def install(self, spec):
        """Puts the unit in place, loaded and enabled. Hand-made drop-ins are moved aside: they would run something else."""
        text = unit_text(self.place, spec, not self.ctl.user, version()).encode()
        if spec["log"]:
            touch_private(spec["log"])
        if self.installed(text):
            return
        os.makedirs(self.ctl.units, exist_ok=True)
        self.set_drop_ins_aside()
        atomic_write(self.place.unit_text, text, 0o644)
        atomic_write(self.path, text, 0o644)
        self.ctl.tell("daemon-reload")
        if self.show()["LoadState"] == "masked":
            self.ctl.tell("unmask", "--runtime", self.place.unit)
        self.ctl.tell("reenable", self.place.unit)

    def installed(self, text):
        """Whether the unit is in place as it is to be: the old server is stopped by now, and a reload takes its time."""
        shown = self.show()
        return (
            [content(self.path), content(self.place.unit_text)] == [text, text]
            and not os.path.islink(self.path)
            and not os.path.isdir(self.path + ".d")
            and not self.drop_ins(shown)
            and unitfiles.is_wanted(self.ctl.units, self.place.unit)
            and (shown["NeedDaemonReload"], shown["UnitFileState"], shown["LoadState"]) == ("no", "enabled", "loaded")
        )

    def start(self):
        """Starts it and returns once the launcher was executed. Fault: not-started."""
        self.ctl.ask("reset-failed", self.place.unit)
        exit, _, err = self.ctl.ask("start", self.place.unit)
        if exit != 0:
            raise Fault(
                "not-started",
                "systemd did not start %s: %s" % (self.place.unit, err.strip().split("\n")[0]),
                where=self.place.unit,
                found=err.strip(),
                expected="a running process",
            )

    def stop(self, timeout):
        """SIGTERM, after `timeout` seconds SIGKILL, and no process left in the control group. Fault: not-stopped."""
        group = self.show()["ControlGroup"]
        self.ctl.ask("stop", self.place.unit, timeout=timeout + 60)
        if group:
            sweep.kill_all(lambda: in_group(group))
        self.ctl.ask("reset-failed", self.place.unit)

    def uninstall(self):
        """Takes the unit away; it is stopped already."""
        self.ctl.ask("disable", self.place.unit)
        for path in (self.path, self.place.unit_text):
            if os.path.lexists(path):
                os.unlink(path)
        shutil.rmtree(self.path + ".d", ignore_errors=True)
        self.ctl.tell("daemon-reload")
        self.ctl.ask("reset-failed", self.place.unit)

    def drop_ins(self, shown):
        """Those that systemd has loaded, and those that it would load."""
        loaded = drop_ins(shown, self.place.unit)
        return loaded + unitfiles.drop_ins(self.place.unit, self.ctl.user, loaded)

    def set_drop_ins_aside(self):
        folders = {os.path.dirname(path) for path in self.drop_ins(self.show())} | {self.path + ".d"}
        there = sorted(folder for folder in folders if os.path.isdir(folder))
        if any(os.listdir(folder) for folder in there):
            shutil.rmtree(self.place.replaced, ignore_errors=True)
            os.makedirs(self.place.replaced, 0o700)
        for folder in there:
            for name in os.listdir(folder):
                shutil.move(os.path.join(folder, name), free_name(os.path.join(self.place.replaced, name)))
            os.rmdir(folder)


def drop_ins(shown, unit):
    """Drop-ins of this unit alone, wherever they lie; those for every unit of the host are not ours to judge."""
    return [path for path in shown["DropInPaths"].split() if os.path.basename(os.path.dirname(path)) == unit + ".d"]


def free_name(path):
    """The path, or the next one with a number that nothing has."""
    number = 1
    free = path
    while os.path.lexists(free):
        number += 1
        free = "%s.%d" % (path, number)
    return free


def state_of(shown):
    """The state as `systemctl show` tells it. Pure but for the start tick of a living process."""
    pid = int(shown.get("MainPID") or 0) or None
    entry = proc.stat(pid) if pid else None
    active, sub = shown["ActiveState"], shown["SubState"]
    if sub == "auto-restart":
        phase = "restarting"
    elif active == "active" and entry:
        phase = "running"
    elif active in ("activating", "reloading"):
        phase = "starting"
    else:
        phase = "failed" if active == "failed" else "stopped"
    return State(
        phase, pid if entry else None, entry.ticks if entry else None, int(shown.get("NRestarts") or 0), exit_of(shown)
    )


def exit_of(shown):
    if not shown.get("ExecMainExitTimestamp"):
        return None
    code = {"1": "exited", "2": "killed", "3": "dumped"}.get(shown["ExecMainCode"], shown["ExecMainCode"])
    return ended(code, shown["ExecMainStatus"])


def in_group(group):
    """Pids whose control group is this one or below it, wherever its hierarchy is mounted."""
    found = []
    for pid in proc.table():
        try:
            with open("/proc/%d/cgroup" % pid) as lines:
                paths = [line.rstrip("\n").split(":", 2) for line in lines]
        except OSError:
            continue
        if any(kind in ("", "name=systemd") and within(path, group) for _, kind, path in paths):
            found.append(pid)
    return found


def within(path, group):
    """Whether a control group, seen from a namespace that may show more of its path, is `group` or below it."""
    return path.endswith(group) or (group + "/") in path


def touch_private(path):
    """Makes a log that only its owner reads: SGLang writes its API keys there."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))

"""A server that nobody of ours started and that holds the port of a service: which it is, and whether it can be taken over."""

import os
import shutil

from agent.fault import Fault
from agent.service import proc, sockets
from agent.service.systemctl import Systemctl, present


def found(spec, ours):
    """The main pid of the server that holds the port of a service that may take it over; None where there is none. Fault: not-takeable."""
    if not spec.get("takeOverPort"):
        return None
    pids = [pid for pid in sockets.holders(spec["address"], spec["port"])[0] if pid not in ours]
    if not pids:
        return None
    mains = {main_of(pid) for pid in pids}
    why = "several servers hold it" if len(mains) > 1 else hindrance(next(iter(mains)))
    if why is not None:
        raise Fault(
            "not-takeable",
            "port %d cannot be taken over from %s: %s"
            % (spec["port"], ", ".join(map(proc.describe, sorted(mains))), why),
            where="%s:%d" % (spec["address"], spec["port"]),
            found=why,
            expected="one SGLang server that was started by hand",
            remedy="end it yourself if it may end, or set another `port`",
        )
    return mains.pop()


def main_of(pid):
    """The process that a holder of the port belongs to: the topmost one above it of the same program that names SGLang."""
    while True:
        entry = proc.stat(pid)
        above = entry.ppid if entry else 0
        if above <= 1 or proc.exe(above) != proc.exe(pid) or not names_sglang(above):
            return pid
        pid = above


def names_sglang(pid):
    return any("sglang" in word for word in proc.cmdline(pid))


def hindrance(pid):
    """Why a server cannot be ended and started again as it was; None when it can."""
    if not names_sglang(pid):
        return "it is no SGLang server"
    if os.geteuid() not in (0, proc.uid(pid)):
        return "it is that of user %s" % proc.user(pid)
    for kind in ("mnt", "pid", "net"):
        if namespace(pid, kind) != namespace("self", kind):
            return "it runs in a container"
    unit = unit_of(pid)
    if unit is not None:
        return "it is the unit %s (`systemctl disable --now %s` ends it for good)" % (unit, unit)
    if proc.environ(pid) is None or program_of(pid) is None:
        return "how it was started cannot be read"
    return None


def namespace(pid, kind):
    try:
        return os.readlink("/proc/%s/ns/%s" % (pid, kind))
    except OSError:
        return None


def unit_of(pid):
    """The unit of systemd whose main process this is, or None."""
    if not present():
        return None
    with open("/proc/%d/cgroup" % pid) as lines:
        names = {part for line in lines for part in line.strip().split("/") if part.endswith(".service")}
    for ctl in (Systemctl(user=False), Systemctl(user=True)):
        for name in sorted(names):
            if ctl.ask("show", "--property=MainPID", "--value", name)[1].strip() == str(pid):
                return name
    return None


def program_of(pid):
    """Absolute path of the program, as it was called: its real path would lose the venv that a link to an interpreter stands for."""
    word = (proc.cmdline(pid) or [""])[0]
    environ = proc.environ(pid) or {}
    folder = working_directory(pid)
    if "/" in word:
        path = os.path.join(folder, word)
    else:
        path = shutil.which(word, path=os.fsdecode(environ.get(b"PATH", os.fsencode(os.defpath)))) or ""
    real = proc.exe(pid)
    return path if real is not None and os.path.realpath(path) == real else None


def working_directory(pid):
    try:
        folder = os.readlink("/proc/%d/cwd" % pid)
    except OSError:
        return "/"
    return folder if os.path.isdir(folder) else "/"


def members(pid):
    """The server and all that is below it."""
    return [] if pid is None else [pid] + proc.descendants(proc.table(), pid)

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
    """Whether it is a program of SGLang. A venv, a model or a folder of that name says nothing: a notebook may run in it."""
    words = proc.cmdline(pid)
    return any("sglang" in word for word in [os.path.basename(word) for word in words[:1]] + run_by_python(words[1:]))


def run_by_python(words):
    """What an interpreter with these arguments runs, as a list of one: its module, its code or the name of its script; else none."""
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-":
            return ["sglang"] if os.path.basename(word) == "launch_server.py" else [os.path.basename(word)]
        letters = "" if word.startswith("--") else word[1:]
        for at, letter in enumerate(letters):
            if letter in "mc":
                text = letters[at + 1 :] or next(rest, "")
                return [text.split(".")[0] if letter == "m" else text]
            if letter in "WX":
                # It takes an argument: the rest of this word, or the next one.
                next(rest if at + 1 == len(letters) else iter(()), None)
                break
    return []


def hindrance(pid):
    """Why a server cannot be ended and started again as it was; None when it can."""
    if not names_sglang(pid):
        return "it is no SGLang server"
    if os.geteuid() not in (0, proc.uid(pid)):
        return "it is that of user %s" % proc.user(pid)
    for kind in ("mnt", "pid", "net"):
        if namespace(pid, kind) != namespace("self", kind):
            return "it runs in a container"
    service = service_of(pid)
    if service is not None:
        return "it is the service `%s` of %s: remove it, or move it, in the stack that has it" % service
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


def service_of(pid):
    """(name, root) of the service of ours, of this root or another, whose process this is, or None."""
    folder, below, _ = (proc.cmdline(pid) or [""])[0].partition("/venv/bin/")
    services, name = os.path.split(folder)
    root, kind = os.path.split(services)
    ours = below and kind == "services" and os.path.isfile(os.path.join(folder, "spec.json"))
    return (name, root) if ours else None


def unit_of(pid):
    """The unit of systemd whose main process this is, or one in that one's session (a script that it starts), or None."""
    if not present():
        return None
    with open("/proc/%d/cgroup" % pid) as lines:
        names = {part for line in lines for part in line.strip().split("/") if part.endswith(".service")}
    entry = proc.stat(pid)
    # Who logs in by ssh is in the unit of sshd, but in a session of its own.
    mains = {str(pid)} | ({str(entry.session)} if entry and entry.session > 1 else set())
    for ctl in (Systemctl(user=False), Systemctl(user=True)):
        for name in sorted(names):
            if ctl.ask("show", "--property=MainPID", "--value", name)[1].strip() in mains:
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

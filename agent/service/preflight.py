"""What must be true of the host before anything is stopped; all that is not, at once."""

import os
import resource
import stat

from agent.fault import Fault
from agent.files import existing, free_bytes
from agent.left import made_for
from agent.service import systemctl
from agent.service.access import denied, first_closed
from agent.service.gpus import gpus
from agent.service.ports import bindable, port

#: Less than this in /dev/shm, and NCCL or SGLang's shared memory fails at start.
SHM = 16 << 20
DISK = 64 << 20
CAP_SYS_RESOURCE = 24


def preflight(place, spec, ours):
    """Raises one Fault with every problem. `ours`: pids of the process that is to be replaced."""
    problems = []
    for check in (port, bindable, gpus, paths, log, limits, memory, disk, manager):
        problems += check(place, spec, ours)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise Fault(
            "preflight",
            "\n".join(problem.message for problem in problems),
            where=place.dir,
            remedy="\n".join(problem.more["remedy"] for problem in problems if "remedy" in problem.more) or None,
        )


def paths(place, spec, ours):
    """The model, the working directory and the log's folder, as the service's user sees them."""
    wanted = []
    problems = []
    for name, path, mode in (("model", spec["modelPath"], "R_OK"), ("working directory", spec["cwd"], "X_OK")):
        if path is None or path == place.work:
            continue
        if not os.path.exists(path):
            problems.append(missing(name, path))
        else:
            wanted.append((path, mode))
    wanted.append((existing(place.dir), "X_OK"))
    wanted.append((os.path.join(place.layout.release(spec["venv"], spec["release"]), "bin", "python"), "X_OK"))
    for path, mode in denied(spec, wanted):
        closed = first_closed(spec, path)
        problems.append(
            Fault(
                "no-access",
                "user %s may not use %s" % (spec["user"] or spec["uid"], path),
                where=path,
                found="%s is closed to it" % closed,
                expected="%s allowed" % mode,
                remedy="open %s to that user, or choose another place" % closed,
            )
        )
    return problems


def missing(name, path):
    """The Fault of a path that is not there; `name`: what it is to be."""
    return Fault(
        "no-path",
        "there is no %s %s on this host" % (name, path),
        where=path,
        found="nothing",
        expected=name,
        remedy="put it there, or correct the path",
    )


def log(place, spec, ours):
    """The log must be a file that can be opened: a pipe would hold the activation for ever, with the old server stopped."""
    path = spec["log"]
    if path is None or path == os.devnull:
        return []
    top = existing(path)
    kind = os.stat(top).st_mode if os.path.exists(top) else 0
    wanted = stat.S_ISREG(kind) if top == path else stat.S_ISDIR(kind)
    if wanted and os.access(top, os.W_OK):
        return []
    return [
        Fault(
            "no-log",
            "the log %s cannot be written" % path,
            where=path,
            found="%s is %s"
            % (top, "not open to the user of the connection" if wanted else "neither a file nor a folder for it"),
            expected="a file, or a folder in which it can be made",
            remedy="set another `log`, or leave it out",
        )
    ]


def limits(place, spec, ours):
    """A declared limit must be had: from the service manager, or from what the agent itself may do."""
    giver = 1 if spec["supervisor"] == "systemd" and os.geteuid() == 0 else os.getpid()
    if may_raise(giver):
        return []
    problems = []
    for name, value in sorted(spec["limits"].items()):
        hard = resource.prlimit(giver, getattr(resource, "RLIMIT_" + name.upper()))[1]
        number = resource.RLIM_INFINITY if value == "infinity" else int(value)
        if hard != resource.RLIM_INFINITY and (number == resource.RLIM_INFINITY or number > hard):
            problems.append(
                Fault(
                    "limit",
                    "limit %s cannot be raised to %s on this host: the most that is allowed is %d"
                    % (name, value, hard),
                    where=name,
                    found=str(hard),
                    expected=str(value),
                    remedy="lower `limits.%s`, or let the host's owner raise what is allowed (docker: --ulimit)" % name,
                )
            )
    return problems


def may_raise(pid):
    with open("/proc/%d/status" % pid) as lines:
        for line in lines:
            if line.startswith("CapEff:"):
                return bool(int(line.split()[1], 16) >> CAP_SYS_RESOURCE & 1)
    return False


def memory(place, spec, ours):
    if not os.path.isdir("/dev/shm"):
        return []
    free = free_bytes("/dev/shm")
    if free >= SHM:
        return []
    held = sorted(((os.lstat("/dev/shm/" + name).st_size, name) for name in os.listdir("/dev/shm")), reverse=True)
    names = ", ".join("%s (%d kB)" % (name, size >> 10) for size, name in held[:5]) or "nothing"
    return [
        Fault(
            "shm",
            "/dev/shm has %d kB left, too little to start; the largest in it: %s" % (free >> 10, names),
            where="/dev/shm",
            found="%d bytes free" % free,
            expected="%d bytes" % SHM,
            remedy="make it larger (docker: --shm-size), or remove what no living process uses",
        )
    ]


def disk(place, spec, ours):
    problems = []
    places = {existing(place.dir)} | ({existing(spec["log"])} if spec["log"] else set())
    for path in sorted(places):
        if free_bytes(path) < DISK:
            problems.append(
                Fault(
                    "no-space",
                    "less than %d MB left at %s" % (DISK >> 20, path),
                    where=path,
                    found="%d bytes" % free_bytes(path),
                    expected="%d bytes" % DISK,
                    remedy="free space there",
                )
            )
    return problems


def manager(place, spec, ours):
    """systemd must be there when it is asked for, and the unit's name ours."""
    if spec["supervisor"] != "systemd":
        return []
    if not systemctl.present():
        return [
            Fault(
                "no-systemd",
                "this host does not run systemd",
                where="/run/systemd/system",
                found="nothing",
                expected="systemd as PID 1",
                remedy="set `supervisor: process`",
            )
        ]
    if os.geteuid() != 0 and not systemctl.lingers():
        return [
            Fault(
                "no-linger",
                "user units end with the login of user id %d: lingering is off and cannot be turned on by itself"
                % os.geteuid(),
                where="/var/lib/systemd/linger",
                found="off",
                expected="on",
                remedy="run `loginctl enable-linger` for that user as root, or set `supervisor: process` or `become: sudo`",
            )
        ]
    ctl = systemctl.Systemctl(user=os.geteuid() != 0)
    exit, _, err = ctl.ask("show", "--property=Version")
    if exit != 0:
        return [
            Fault(
                "no-manager",
                "the %s manager of systemd does not answer: %s" % ("user" if ctl.user else "system", err.strip()),
                found=err.strip(),
                expected="an answer of systemctl",
                remedy="see `systemctl status user@%d` as root (it needs pam_systemd), or set `supervisor: process`"
                % os.geteuid(),
            )
        ]
    path = os.path.join(ctl.units, place.unit)
    if os.path.exists(path) and not os.path.exists(place.spec) and not made_for(path, place.dir):
        return [
            Fault(
                "unit-taken",
                "there is a unit %s already that is not this service's" % place.unit,
                where=path,
                found="a unit of someone else",
                expected="no such unit",
                remedy="remove it, or name the service otherwise",
            )
        ]
    return []

"""Proves from /proc that a living process is the declared one. Differences are facts; whether they matter is the caller's."""

import os
import re
import resource

from agent.fault import Fault
from agent.service import proc
from agent.service.patched import noted


def release_of(place, pid, ticks):
    """(venv, release) that a process runs from, or None when that is another one's or cannot be told.

    What it has mapped is the best witness. One that maps nothing of a venv was started through the stable link, which is
    moved only while nothing runs: its target is the release if the link is older than the process.
    """
    below = os.path.realpath(place.layout.root) + "/venvs/"
    mapped = {release_in(path[len(below) :]) for path in proc.mapped(pid, below)} - {None}
    if mapped:
        return mapped.pop() if len(mapped) == 1 else None
    words = proc.cmdline(pid)
    if not words or words[0] != os.path.join(place.link, "bin", "python"):
        return None
    try:
        # The start tick is coarse, and the clock may have been set: a link that is clearly younger was moved meanwhile.
        if os.lstat(place.link).st_mtime > proc.started(ticks) + 2:
            return None
        return release_in(os.path.relpath(os.path.realpath(place.link), below))
    except OSError:
        return None


def release_in(path):
    """(venv, release) of a path below `venvs/`: `v/releases/<id>/…`."""
    match = re.match(r"([^/]+)/releases/([^/]+)", path)
    return match.groups() if match else None


def led_astray(place, spec):
    """Where the stable link leads, when that is not the release of the spec; None when it is. `nowhere`: it is gone."""
    if not os.path.lexists(place.link):
        return "nowhere"
    target = os.path.realpath(place.link)
    return None if target == os.path.realpath(place.layout.release(spec["venv"], spec["release"])) else target


def environ_differs(pid, spec):
    """Names whose values differ from the spec, or that only one side has. [] also when it cannot be read any more."""
    found = proc.environ(pid)
    if found is None:
        return []
    wanted = {raw(name): raw(value) for name, value in spec["environ"].items()}
    names = {name for name in set(found) | set(wanted) if found.get(name) != wanted.get(name)}
    return sorted(name.decode("utf-8", "replace") for name in names)


def limits_differ(pid, spec):
    """Limits that are not as declared, as `nofile: 1024 instead of 65536`."""
    found = []
    for name, value in sorted(spec["limits"].items()):
        wanted = resource.RLIM_INFINITY if value == "infinity" else int(value)
        try:
            soft, hard = resource.prlimit(pid, getattr(resource, "RLIMIT_" + name.upper()))
        except (OSError, AttributeError):
            continue
        if (soft, hard) != (wanted, wanted):
            found.append("%s: %s instead of %s" % (name, "infinity" if soft == resource.RLIM_INFINITY else soft, value))
    return found


def prove(place, spec, state, patched):
    """What the process is, all of it, or Fault `not-proven` with all that it is not."""
    wanted = (spec["venv"], spec["release"])
    pid = state.pid
    problems = []
    words = proc.cmdline(pid)
    if words != spec["argv"]:
        problems.append("its arguments are %s, not %s" % (words, spec["argv"]))
    differs = environ_differs(pid, spec)
    if differs:
        problems.append("its environment differs in %s" % ", ".join(differs))
    if proc.environ(pid) is None:
        problems.append("its environment cannot be read")
    program = os.path.realpath(os.path.join(place.link, "bin", "python"))
    if proc.exe(pid) != program:
        problems.append("its program is %s, not %s" % (proc.exe(pid), program))
    release = release_of(place, pid, state.ticks)
    if release != wanted:
        problems.append("it runs from release %s, not from %s" % (release and "/".join(release), "/".join(wanted)))
    astray = led_astray(place, spec)
    if astray is not None:
        problems.append("its link leads to %s" % astray)
    problems += ["limit " + text for text in limits_differ(pid, spec)]
    uid = os.stat("/proc/%d" % pid).st_uid
    if uid != spec["uid"]:
        problems.append("it runs as uid %d, not %d" % (uid, spec["uid"]))
    files, wrong = noted(place, patched)
    problems += ["%s was changed after the gates" % path for path in wrong]
    if problems:
        raise Fault(
            "not-proven",
            "the process that was started is not the declared one: " + "; ".join(problems),
            where="/proc/%d" % pid,
            found="; ".join(problems),
            expected="release %s as declared" % wanted[1],
        )
    return {
        "pid": pid,
        "started": proc.started(state.ticks),
        "exe": program,
        "release": wanted[1],
        "uid": uid,
        "arguments": len(words) - 1,
        "variables": len(spec["environ"]),
        "files": files,
    }


def raw(text):
    return text.encode("utf-8", "surrogateescape")

"""Whether the port of a service is free, and how it gets free."""

import os

from agent.fault import Fault
from agent.service import proc, sockets


def port(place, spec, ours):
    pids, unknown = sockets.holders(spec["address"], spec["port"])
    foreign = [pid for pid in pids if pid not in ours]
    if not foreign and (not unknown or ours):
        return []
    who = ", ".join(proc.describe(pid) for pid in foreign) or "a process of another user"
    return [
        Fault(
            "port-taken",
            "port %d is taken by %s" % (spec["port"], who),
            where="%s:%d" % (spec["address"], spec["port"]),
            found=who,
            expected="a free port",
            remedy=remedy_of(place, foreign),
        )
    ]


def remedy_of(place, pids):
    """What frees a port; a service of this root may be moved, and its process must not be ended by hand."""
    folder = place.layout.at("services") + os.sep
    words = [word for pid in pids for word in proc.cmdline(pid)[:1] if word.startswith(folder)]
    if not words:
        return "end that process if it may end, or set another `port`"
    return (
        "that is service `%s`: change its port, or remove it, in an `up` before this one"
        % words[0][len(folder) :].split(os.sep)[0]
    )


def port_free(place, spec):
    """Raises the Fault of a port that is taken, by whomever."""
    for problem in port(place, spec, []):
        raise problem

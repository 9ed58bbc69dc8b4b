"""Whether the port of a service is free, and how it gets free."""

import errno
import os
import socket

from agent.fault import Fault
from agent.files import read_json
from agent.service import proc, sockets
from agent.service.found import hindrance, main_of
from agent.service.found import service_of as service_anywhere


def port(place, spec, ours):
    pids, unknown = sockets.holders(spec["address"], spec["port"])
    foreign = [pid for pid in pids if pid not in ours]
    if not foreign and (not unknown or (ours and _held_before(place, spec))):
        return []
    who = ", ".join(proc.describe(pid) for pid in foreign) or "a process that cannot be seen from here"
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


def _held_before(place, spec):
    """Whether the server that is to be replaced listens on this very port: a holder that cannot be seen may be it."""
    return (read_json(place.spec) or {}).get("port") == spec["port"]


def bindable(place, spec, ours):
    """What keeps a server from its address though nobody listens there, as the server itself would find out; [] for a port that is ours."""
    if sockets.holders(spec["address"], spec["port"]) != ([], 0):
        return []
    try:
        found = socket.getaddrinfo(spec["address"], spec["port"], type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        return [_not_here(spec, error)]
    away = None
    for family, kind, protocol, _, where in found:
        try:
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(where)
                return []
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return [_in_use(spec)]
            # `localhost` may have an address of a family that this host does not use.
            away = error
    return [_not_here(spec, away)] if away and away.errno == errno.EADDRNOTAVAIL else []


def _in_use(spec):
    low, high = sockets.ephemeral()
    return Fault(
        "port-taken",
        "port %d is taken, though nobody listens on it: by an outgoing connection, or a socket that only holds it"
        % spec["port"],
        where="%s:%d" % (spec["address"], spec["port"]),
        expected="a free port",
        remedy="set a `port` outside of %d-%d, which this host gives to outgoing connections" % (low, high)
        if low <= spec["port"] <= high
        else "see `ss -tanp` for who has it, or set another `port`",
    )


def _not_here(spec, error):
    return Fault(
        "no-address",
        "this host has no address %s to listen on: %s" % (spec["address"], error.strerror or error),
        where=spec["address"],
        found=error.strerror,
        expected="an address of this host",
        remedy="correct `address`; 0.0.0.0 is all of them",
    )


def remedy_of(place, pids):
    """What frees a port; a service of this root may be moved, and its process must not be ended by hand."""
    service = service_of(place, pids)
    if service is None and len(pids) > 0 and all(hindrance(main_of(pid)) is None for pid in pids):
        return "set `takeOverPort: true` to have it stopped for this service, and started again if this one fails, or set another `port`"
    elsewhere = {service_anywhere(main_of(pid)) for pid in pids} - {None} if service is None else set()
    if elsewhere:
        return "that is %s: change its port, or remove it, in the stack that has it" % " and ".join(
            "service `%s` of %s" % each for each in sorted(elsewhere)
        )
    if service is None:
        return "end that process if it may end, or set another `port`"
    if service == place.name:
        return "end it (kill %s): somebody started it from this service's venv, and nothing here keeps it" % " ".join(
            map(str, pids)
        )
    return "that is service `%s`: change its port, or remove it, in an `up` before this one" % service


def service_of(place, pids):
    """Name of the service of this root that one of the processes is; None when none is."""
    folder = place.layout.at("services") + os.sep
    words = [word for pid in pids for word in proc.cmdline(pid)[:1] if word.startswith(folder)]
    return words[0][len(folder) :].split(os.sep)[0] if words else None


def port_free(place, spec):
    """Raises the Fault of a port that is taken, by whomever."""
    for problem in port(place, spec, []):
        raise problem

"""The supervisors by name. Both offer: state, members, log, install, start, stop, uninstall."""

from agent.service.process import Process
from agent.service.systemd import Systemd

_KINDS = {"systemd": Systemd, "process": Process}


def supervisor(place, kind):
    """The supervisor `systemd` or `process` of one service."""
    return _KINDS[kind](place)

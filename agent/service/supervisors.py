"""The supervisors by name. Both offer: state, members, log, install, start, stop, uninstall."""

from agent.files import read_json
from agent.left import made_for
from agent.service import keeping, systemctl
from agent.service.process import Process
from agent.service.systemd import Systemd

#: Seconds between SIGTERM and SIGKILL where nothing says it any more.
_PATIENCE = 60

_KINDS = {"systemd": Systemd, "process": Process}


def supervisor(place, kind):
    """The supervisor `systemd` or `process` of one service."""
    return _KINDS[kind](place)


def standing(place):
    """(supervisor, stop timeout) of what runs as this service now, or (None, 0); also of a service whose spec was lost."""
    spec = read_json(place.spec)
    if spec is not None:
        return supervisor(place, spec["supervisor"]), spec["stopTimeout"]
    if keeping.said(place):
        return Process(place), _PATIENCE
    if systemctl.present():
        unit = Systemd(place)
        if made_for(unit.path, place.dir):
            return unit, _PATIENCE
    return None, 0

"""Services that go on though their files are gone: somebody removed the root, or a part of it, while they ran."""

import os

_UNITS = "/etc/systemd/system"
_USER_UNITS = ".config/systemd/user"


def services_left(layout, known, claimed):
    """Names of services of this root that have a unit or a keeper on the host, and no folder (`known`); sorted."""
    found = set(_by_unit(layout))
    # To read the arguments of all processes takes its time: only where none is known, or one is missed.
    if not known or set(claimed) - set(known):
        found.update(_by_keeper(layout))
    return sorted(found - set(known))


def made_for(path, folder):
    """Whether a unit was made for the service in that folder: its first line says so."""
    try:
        with open(path, errors="replace") as file:
            return file.readline().rstrip("\n").endswith("for the service in " + folder)
    except OSError:
        return False


def _by_unit(layout):
    units = _UNITS if os.geteuid() == 0 else os.path.join(os.path.expanduser("~"), _USER_UNITS)
    for unit in _listed(units):
        if unit.startswith("sglang-") and unit.endswith(".service"):
            name = unit[len("sglang-") : -len(".service")]
            if made_for(os.path.join(units, unit), layout.service(name)):
                yield name


def _by_keeper(layout):
    """By the arguments of a keeper, its own four last."""
    folder = os.fsencode(layout.at("services")) + b"/"
    for pid in _listed("/proc"):
        if not pid.isdigit():
            continue
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                words = file.read().split(b"\0")[:-1]
        except OSError:
            continue
        if len(words) > 4 and words[-4].startswith(folder) and words[-4].endswith(b"/keeper.py"):
            yield os.fsdecode(words[-4][len(folder) : -len(b"/keeper.py")])


def _listed(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []

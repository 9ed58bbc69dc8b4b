"""What a host's disk says of a unit. systemd believes it only after its next reload or boot, and until then tells what it has read before."""

import os

#: Where systemd looks for drop-ins of its system's units, and of a user's. /lib is /usr/lib, or its older place.
SYSTEM = (
    *("/etc/systemd/system.control", "/run/systemd/system.control", "/etc/systemd/system", "/run/systemd/system"),
    *("/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"),
)
USER = (
    *("~/.config/systemd/user.control", "~/.config/systemd/user", "/etc/systemd/user", "/run/systemd/user"),
    *("~/.local/share/systemd/user", "/usr/local/lib/systemd/user", "/usr/lib/systemd/user", "/lib/systemd/user"),
)


def drop_ins(unit, user, loaded):
    """Drop-ins of this unit alone that are there and not among `loaded`, sorted."""
    known = {os.path.realpath(path) for path in loaded}
    found = {}
    for folder in USER if user else SYSTEM:
        there = os.path.join(os.path.expanduser(folder), unit + ".d")
        for name in _names(there):
            path = os.path.join(there, name)
            if name.endswith(".conf") and os.path.realpath(path) not in known:
                found.setdefault(os.path.realpath(path), path)
    return sorted(found.values())


def is_wanted(units, unit):
    """Whether a target of this directory of units starts it at boot: what `systemctl enable` makes."""
    return any(
        name.endswith((".wants", ".requires")) and os.path.lexists(os.path.join(units, name, unit))
        for name in _names(units)
    )


def is_masked(path):
    """Whether a unit file is one that systemd reads as masked: a link to nothing, or empty."""
    if os.path.islink(path):
        return os.readlink(path) == os.devnull
    return os.path.isfile(path) and os.stat(path).st_size == 0


def _names(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []

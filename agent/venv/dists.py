"""The distributions of a site-packages folder, by their metadata folders. Says what metadata says, which need not be what runs."""

import os
import re


class Dist:
    """One distribution: normalised name, version, and its metadata folder (or file, of an old egg) below site-packages."""

    def __init__(self, name, version, info):
        self.name = name
        self.version = version
        self.info = info

    def __repr__(self):
        return "%s %s" % (self.name, self.version)


def normalise(name):
    """A distribution's name as comparisons need it: `Foo_bar.baz` is `foo-bar-baz`."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed(site):
    """All distributions, sorted; two of one name are two entries. Debris of interrupted installs (`~orch-2.9.dist-info`) is none."""
    found = [dist for dist in (_dist(site, name) for name in os.listdir(site)) if dist]
    return sorted(found, key=lambda dist: (dist.name, dist.info))


def versions(site):
    """Version by normalised name; two metadata folders of one name show both: `2.9.1 and 2.11.0`."""
    found = {}
    try:
        for dist in installed(site):
            found[dist.name] = found[dist.name] + " and " + dist.version if dist.name in found else dist.version
    except (FileNotFoundError, NotADirectoryError):
        return {}
    return found


def metadata(site, dist):
    """The headers of METADATA (or PKG-INFO), as an email message; empty when there is no such file."""
    from email.parser import HeaderParser  # It takes as long to import as a look, which hardly ever needs it.

    for path in (
        os.path.join(site, dist.info, "METADATA"),
        os.path.join(site, dist.info, "PKG-INFO"),
        os.path.join(site, dist.info),
    ):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                return HeaderParser().parse(file)
        except OSError:
            continue
    return HeaderParser().parsestr("")


def debris(site, names):
    """Entries of site-packages that an interrupted install left of things called `names`: pip renames `torch` to `~orch`, `~-rch`, …"""
    found = []
    for entry in os.listdir(site):
        if not entry.startswith("~"):
            continue
        rest = entry.lstrip("-~.=%0123456789")
        if len(rest) > 1 and any(_suffix(entry, rest, name) for name in names):
            found.append(entry)
    return sorted(found)


def _suffix(entry, rest, name):
    cut = len(entry) - len(rest)
    dist = rest.endswith((".dist-info", ".egg-info"))
    if dist:
        return normalise(rest.split("-")[0]) == normalise(name[cut:])
    return rest == name[cut:]


def _dist(site, entry):
    stem, ending = os.path.splitext(entry)
    if entry.startswith(("~", ".")) or ending not in (".dist-info", ".egg-info"):
        return None
    parts = stem.split("-")
    if ending == ".dist-info":
        return Dist(normalise("-".join(parts[:-1])), parts[-1], entry) if len(parts) > 1 else None
    if len(parts) > 1:
        return Dist(normalise(parts[0]), parts[1], entry)
    return Dist(normalise(stem), metadata(site, Dist(stem, "", entry)).get("Version", "0"), entry)

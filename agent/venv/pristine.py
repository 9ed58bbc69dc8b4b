"""What was not in order in an adopted venv before we came: files that are not what their distribution says it brought (edited, or
listed wrongly in a wheel), and what interrupted installs left.

All of it is kept as it is, and is the baseline; a person is to know of it.
"""

import base64
import os
import re

from agent.venv import dists, record

MOST = 10
CODE_VERSION = re.compile(r"^__version__(?::[^=\n]+)?\s*=\s*['\"]([^'\"]+)['\"]", re.M)


def foreign(prefix, site, declared):
    """{distribution: {files: count, first: paths below site-packages}}; declared: `path below the prefix -> sha256`."""
    inside, found = os.path.relpath(site, prefix), {}
    # What another distribution brought over it is told as a file of two owners.
    anothers = {one["path"] for one in record.shared(site) if one["bytes"]}
    for dist in dists.installed(site):
        paths = []
        for path, listed, _size in record.read(site, dist) or []:
            kind, _, value = listed.partition("=")
            live = declared.get(os.path.normpath(os.path.join(inside, path)))
            if kind == "sha256" and live is not None and _hex(value) != live and os.path.normpath(path) not in anothers:
                paths.append(os.path.normpath(path))
        if paths:
            found[dist.name] = {"files": len(paths), "first": sorted(paths)[:MOST]}
    return found


def leftovers(site):
    """Sentences about what interrupted installs left: `~name`, a second metadata folder of one distribution, and one without metadata."""
    entries = os.listdir(site)
    found = ["%s was left by an interrupted install" % name for name in sorted(entries) if name.startswith("~")]
    infos = {}
    for dist in dists.installed(site):
        infos.setdefault(dist.name, []).append(dist.info)
        if os.path.isdir(os.path.join(site, dist.info)) and not dists.metadata(site, dist).keys():
            found.append("%s says nothing: it has no METADATA" % dist.info)
    for name, several in sorted(infos.items()):
        if len(several) > 1:
            code = _version_of_code(site, name)
            told = "%s has %d metadata folders: %s" % (name, len(several), ", ".join(several))
            found.append(told + ("; its code says %s" % code if code else ""))
    return found


def _version_of_code(site, name):
    """What the package of a distribution says itself; None where it does not, or is called otherwise."""
    for file in ("version.py", "_version.py", "__init__.py"):
        try:
            with open(os.path.join(site, name.replace("-", "_"), file), encoding="utf-8", errors="replace") as text:
                match = CODE_VERSION.search(text.read())
        except OSError:
            continue
        if match:
            return match.group(1)
    return None


def _hex(value):
    try:
        return base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)).hex()
    except ValueError:
        return ""

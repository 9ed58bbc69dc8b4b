"""What was changed in an adopted venv since it was copied, for people: packages by version, files by path. Looked at only when its fingerprint moved."""

import os
import re

from agent.fault import Fault
from agent.venv import dists, editable, interpreter, tree

MOST = 20
#: What the copy has otherwise on purpose: metadata, and how editable installs are found.
ALTERED = re.compile(r"(^|/)[^/]+\.(dist|egg)-info/|^__editable__|\.(pth|egg-link)$")


def changes(copy, original, avoid=()):
    """{packages: {name: [version that was copied, version now]}, null = none; files: count; first: paths}; None if it is gone.

    Paths are those below site-packages, and the full ones of files in the source trees of editable installs. `avoid`: paths
    that belong to us.
    """
    try:
        was, now = interpreter.site_packages(copy), interpreter.site_packages(original)
    except (OSError, Fault):
        return None
    before, after = dists.versions(was), dists.versions(now)
    packages = {
        name: [before.get(name), after.get(name)]
        for name in sorted(set(before) | set(after))
        if before.get(name) != after.get(name)
    }
    files = _differing(tree.lines(was), tree.lines(now))
    for number, source in enumerate(editable.sources(original)):
        for name, path in sorted(source.places.items()):
            files += _source(os.path.join(copy, "src", str(number), *name.split(".")), path, avoid + (original,))
    return {"packages": packages, "files": len(files), "first": files[:MOST]}


def _differing(old, new):
    return sorted(path for path in set(old) | set(new) if old.get(path) != new.get(path) and not ALTERED.search(path))


def _source(copied, path, avoid):
    """Full paths of what differs in one source tree, or the one file, of an editable install. What was a link may be a file in the copy."""
    if not os.path.isdir(path):
        return [] if _stat(copied) == _stat(path) else [path]
    skip = tree.source_skip(avoid)
    old, new = tree.lines(copied), tree.lines(path, skip)
    links = {name for name, line in new.items() if line.startswith("120000\t")}
    return [os.path.join(path, name) for name in _differing(old, new) if name not in links]


def _stat(path):
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return facts.st_mode, facts.st_size, facts.st_mtime_ns

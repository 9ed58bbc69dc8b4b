"""What was changed in an adopted venv since it was copied, for people: packages by version, files by path. Looked at only when its fingerprint moved."""

import re

from agent.fault import Fault
from agent.venv import dists, interpreter, tree

MOST = 20
#: What the copy has otherwise on purpose: metadata, and how editable installs are found.
ALTERED = re.compile(r"(^|/)[^/]+\.(dist|egg)-info/|^__editable__|\.(pth|egg-link)$")


def changes(copy, original):
    """{packages: {name: [version that was copied, version now]}, null = none; files: count; first: paths below site-packages}; None if it is gone."""
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
    old, new = tree.lines(was), tree.lines(now)
    files = sorted(path for path in set(old) | set(new) if old.get(path) != new.get(path) and not ALTERED.search(path))
    return {"packages": packages, "files": len(files), "first": files[:MOST]}

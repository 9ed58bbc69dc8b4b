"""Which files of an adopted venv are not what their distribution says it brought: edited before we came, or listed wrongly in a wheel.

Both are kept as they are, and are the baseline; a person is to know of them.
"""

import base64
import os

from agent.venv import dists, record

MOST = 10


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


def _hex(value):
    try:
        return base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)).hex()
    except ValueError:
        return ""

"""Whether the user of a service may use a path: asked as that user, so that ACLs and network file systems count."""

import json
import os
import subprocess
import sys

_SCRIPT = """
import json, os, sys
ids, paths = json.loads(sys.argv[1])
if os.geteuid() == 0 and ids["uid"] != 0:
    os.setgroups(ids["groups"]); os.setgid(ids["gid"]); os.setuid(ids["uid"])
print(json.dumps([os.access(path, getattr(os, mode)) for path, mode in paths]))
"""


def denied(spec, wanted):
    """Those of `wanted` ([(path, "R_OK" | "W_OK" | "X_OK")]) that the spec's user may not use so."""
    ids = {name: spec[name] for name in ("uid", "gid", "groups")}
    out = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _SCRIPT, json.dumps([ids, wanted])],
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        check=True,
        timeout=60,
    ).stdout
    return [item for item, allowed in zip(wanted, json.loads(out.decode())) if not allowed]


def first_closed(spec, path):
    """The highest folder above `path` that the spec's user may not enter, else `path` itself."""
    above, folder = [], os.path.dirname(path)
    while folder not in above:
        above.append(folder)
        folder = os.path.dirname(folder)
    closed = denied(spec, [(folder, "X_OK") for folder in reversed(above)])
    return closed[0][0] if closed else path

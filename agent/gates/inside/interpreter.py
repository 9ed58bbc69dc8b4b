"""Gate 0: the interpreter that runs is the release's own."""

import os
import re
import sys


def problems(job):
    told = []
    prefix, release = os.path.realpath(sys.prefix), os.path.realpath(job["release"])
    if prefix != release:
        told.append(
            "the interpreter was the wrong one: %s runs with prefix %s, expected %s" % (sys.executable, prefix, release)
        )
    match = re.search(r"python(\d+)\.(\d+)", job["site"])
    if match and tuple(int(part) for part in match.groups()) != sys.version_info[:2]:
        told.append(
            "the interpreter was the wrong one: %s is Python %d.%d, %s is for %s.%s"
            % ((sys.executable,) + sys.version_info[:2] + (job["site"],) + match.groups())
        )
    elif not told and os.path.realpath(job["site"]) not in [os.path.realpath(entry) for entry in sys.path if entry]:
        told.append("%s does not search %s; it searches %s" % (sys.executable, job["site"], ", ".join(sys.path[1:])))
    return told

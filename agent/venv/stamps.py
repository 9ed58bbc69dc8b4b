"""A cache of hashes: a file that is the same inode with the same size, mtime and ctime has the content that it had.

No program can set a ctime, so an edit that puts size and mtime back shows in it. Our own linking changes ctimes too: what links
takes the stamps anew afterwards. A cache that is lost, or stale, costs time and no truth.
"""

import os
import stat
import time

from agent.fault import Fault
from agent.files import atomic_write
from agent.venv import sums, tree

FIRST = "sglang stamps 1"
#: Seconds within which a second write may get the same ctime; younger files are not remembered.
TICK = 0.02


def read(path):
    """`file -> (stamp, sha256)`; {} when there is no cache, or one that cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            lines = file.read().split("\n")
    except OSError:
        return {}
    if lines[0] != FIRST:
        return {}
    parts = [line.split("\t") for line in lines[1:]]
    return {tree.unescape(one[2]): (one[0], one[1]) for one in parts if len(one) == 3}


def write(path, stamps):
    lines = [FIRST] + ["%s\t%s\t%s" % (*stamps[name], tree.escape(name)) for name in sorted(stamps)]
    atomic_write(path, ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape"))


def contents(top, paths, cached, tell=None, check=lambda: None):
    """(`path -> sha256`, None for what is no file; `path -> (stamp, sha256)` to be remembered; how many were hashed)."""
    now = time.time()
    found, kept, taken, unknown = {}, {}, {}, []
    for path in paths:
        facts = _regular(os.path.join(top, path))
        if facts is None:
            found[path] = None
            continue
        taken[path] = _stamp(facts)
        stamp, sha256 = cached.get(path, ("", ""))
        if stamp == taken[path]:
            found[path], kept[path] = sha256, (stamp, sha256)
        else:
            unknown.append(path)
            if facts.st_ctime > now - TICK:
                del taken[path]
    hashed = sums.hashes(top, unknown, tell, check)
    found.update(hashed)
    kept.update({path: (taken[path], sha256) for path, sha256 in hashed.items() if sha256 and path in taken})
    return found, kept, len(unknown)


def take(top, known):
    """`path -> (stamp, sha256)` of files whose content is known to be this (`path -> sha256`): we hold the lock, and just made or checked them."""
    time.sleep(TICK)
    found = {}
    for path, sha256 in known.items():
        facts = _regular(os.path.join(top, path))
        if facts is not None:
            found[path] = (_stamp(facts), sha256)
    return found


def remember(path, stamps):
    """Writes the cache for a look: where that cannot be, the next look takes as long as this one."""
    try:
        write(path, stamps)
    except (Fault, OSError):
        return


def inode(stamp):
    """The inode of a stamp."""
    return int(stamp.split(" ", 1)[0])


def _regular(path):
    try:
        facts = os.lstat(path)
    except OSError:
        return None
    return facts if stat.S_ISREG(facts.st_mode) else None


def _stamp(facts):
    return "%d %d %d %d" % (facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)

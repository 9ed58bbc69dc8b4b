"""What the files of a new folder of ours are declared to be, and which of them every look compares."""

import os

from agent.venv import dists, record, sums

#: What a service runs, watched whether or not anything is laid over it.
LAUNCHED = "sglang"


def watched(prefix, site, names, patched, declared):
    """Of `declared`, the files of distributions called `names`, those of the owners of `patched` paths, and copied source trees."""
    inside = os.path.relpath(site, prefix)
    found = set(patched)
    for dist in dists.installed(site):
        paths = {os.path.normpath(os.path.join(inside, path)) for path in record.files(site, dist) or []}
        if dist.name in names or paths & set(patched):
            found |= paths
    return {path: sha256 for path, sha256 in declared.items() if path in found or path.startswith("src/")}


def by_inode(top, known):
    """`inode -> sha256` of files whose content is known: what is linked from here needs no hashing."""
    found = {}
    for path, sha256 in known.items():
        try:
            found[os.lstat(os.path.join(top, path)).st_ino] = sha256
        except OSError:
            continue
    return found


def sums_of(top, lines, known, tell=None, check=lambda: None):
    """`path -> sha256` of all files of a tree; of those whose inode is `known`, without reading them."""
    found, rest = {}, []
    for path in sums.files(lines):
        sha256 = known.get(os.lstat(os.path.join(top, path)).st_ino)
        if sha256 is None:
            rest.append(path)
        else:
            found[path] = sha256
    found.update(sums.hashes(top, rest, tell, check))
    return found

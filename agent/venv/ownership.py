"""Which files and folders of a site-packages are whose."""

import os
import posixpath

from agent.venv import record


def own_folders(paths, owners):
    """The highest folders in which a distribution has files (`paths`) and no other one (`owners`, by path) has: `torch`, but `nvidia/nccl` of a shared `nvidia`."""
    theirs = set()
    for path in owners:
        theirs.update(parents(path))
    ours = set()
    for path in paths:
        ours.update(folder for folder in parents(path) if folder not in theirs)
    return sorted(folder for folder in ours if posixpath.dirname(folder) not in ours and folder != "__pycache__")


def parents(path):
    """The folders that a path lies in, below site-packages: the nearest first."""
    folder = posixpath.dirname(path)
    while folder:
        yield folder
        folder = posixpath.dirname(folder)


def files(site, dist, owners):
    """The files of a distribution below site-packages, as recorded; without a RECORD, what its top_level.txt names and nobody else owns."""
    paths = record.files(site, dist)
    return _by_top_level(site, dist, owners) if paths is None else paths


def below(top):
    """All files below a folder but bytecode, sorted."""
    found = []
    for folder, _folders, names in os.walk(top):
        found.extend(os.path.relpath(os.path.join(folder, name), top) for name in names if not name.endswith(".pyc"))
    return sorted(found)


def _by_top_level(site, dist, owners):
    try:
        with open(os.path.join(site, dist.info, "top_level.txt"), encoding="utf-8") as file:
            tops = file.read().split()
    except OSError:
        return []
    found = []
    for top in tops:
        found.extend(top + "/" + path for path in below(os.path.join(site, top)))
        found.extend(name for name in (top + ".py",) if os.path.isfile(os.path.join(site, name)))
    return [path for path in found if path not in owners]

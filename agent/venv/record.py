"""RECORD: which files a distribution brought, with their hashes. Kept true for what we change."""

import base64
import csv
import hashlib
import io
import os
import posixpath

from agent.venv import dists
from agent.venv.clone import rewrite

NAME = "RECORD"


def read(site, dist):
    """[(path, hash, size)] of a distribution, paths as written; None when it has no RECORD, or one that is damaged."""
    try:
        with open(os.path.join(site, dist.info, NAME), newline="", encoding="utf-8", errors="surrogateescape") as file:
            text = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    # A write that was lost leaves zeros, a cut one a quote without an end.
    if "\0" in text:
        return None
    try:
        return [tuple((row + ["", ""])[:3]) for row in csv.reader(io.StringIO(text, newline="")) if row]
    except csv.Error:
        return None


def write(site, info, rows):
    """Replaces the RECORD in the metadata folder `info`, sorted, as a new file: a hard link elsewhere keeps the old one."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(sorted(rows))
    path = os.path.join(site, info, NAME)
    if not os.path.exists(path):
        open(path, "wb").close()
    rewrite(path, text.getvalue().encode("utf-8", "surrogateescape"))


def files(site, dist):
    """The files of a distribution as normal paths below site-packages (`../../../bin/x` stays so); None when that is not known."""
    rows = read(site, dist)
    if rows is not None:
        return [_below(site, row[0]) for row in rows]
    return _egg_files(site, dist)


def owners(site, installed):
    """Path below site-packages -> the distributions that say it is theirs."""
    found = {}
    for dist in installed:
        for path in files(site, dist) or []:
            found.setdefault(path, []).append(dist)
    return found


def shared(site):
    """[{path, owners, bytes}] of the files that several distributions say are theirs, each with another content.

    owners: names, sorted; bytes: `name version` of the one whose content is there, by hash; "" = nobody's.
    """
    listed = {}
    for dist in dists.installed(site):
        for path, digest, _size in read(site, dist) or []:
            listed.setdefault(_below(site, path), []).append((dist, digest))
    found = []
    for path, rows in sorted(listed.items()):
        if len({digest for _dist, digest in rows if digest}) < 2 or not os.path.isfile(os.path.join(site, path)):
            continue
        live = row(site, path)[1]
        whose = [str(dist) for dist, digest in rows if digest == live]
        owners = sorted({dist.name for dist, _digest in rows})
        found.append({"path": path, "owners": owners, "bytes": " and ".join(whose)})
    return found


def row(site, path):
    """The RECORD row of one file as it is now."""
    digest = hashlib.sha256()
    size = 0
    with open(os.path.join(site, path), "rb") as file:
        for part in iter(lambda: file.read(1 << 20), b""):
            digest.update(part)
            size += len(part)
    return (path, "sha256=" + encode(digest.digest()), str(size))


def encode(digest):
    """A digest as RECORD writes it."""
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def refresh(site, changed, gone=()):
    """Rewrites the rows of changed files and drops those of files that are gone, in whichever RECORD has them."""
    changed, gone = set(changed), set(gone)
    if not changed and not gone:
        return
    for dist in dists.installed(site):
        rows = read(site, dist)
        if rows is None:
            continue
        fixed = []
        for old in rows:
            path = _below(site, old[0])
            if path not in gone:
                fixed.append((old[0],) + row(site, path)[1:] if path in changed else old)
        if fixed != rows:
            write(site, dist.info, fixed)


def refresh_below(prefix, site, changed):
    """`refresh` for changed files that are named below the venv's own folder."""
    refresh(site, [os.path.relpath(os.path.join(prefix, path), site) for path in changed])


def add(site, info, paths):
    """Adds rows for new files to the RECORD of one distribution."""
    rows = read(site, dists.Dist("", "", info)) or []
    write(site, info, rows + [row(site, path) for path in paths])


def _below(site, path):
    if path.startswith("/"):
        path = os.path.relpath(path, site)
    return posixpath.normpath(path)


def _egg_files(site, dist):
    """Files of a distribution that was installed the old way, from what setuptools noted."""
    if not dist.info.endswith(".egg-info"):
        return None
    if os.path.isfile(os.path.join(site, dist.info)):
        return None
    try:
        with open(os.path.join(site, dist.info, "installed-files.txt"), encoding="utf-8") as file:
            return [posixpath.normpath(posixpath.join(dist.info, line.strip())) for line in file if line.strip()]
    except FileNotFoundError:
        return None

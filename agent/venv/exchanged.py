"""Distributions of a release that an installer put there, exchanged or took away, with what it changed by that. Reads only."""

import csv
import posixpath
import re

from agent.files import content
from agent.venv import dists
from agent.venv.mended import is_loaded, shown

METADATA = re.compile(r"^([^/]+)-[^-/]+\.dist-info/METADATA$")


def fold(found, prefix, facts, before):
    """([{path, kind}] that is left, {name: Exchanged}): files of an exchanged distribution are counted, patched ones stay by name.

    Exchanged: {was, now, files, loaded}: versions (None = was not there, or is not), files that differ, and those of them that
    Python loads. found: paths below the release; before(path): the bytes of a file as the release was made of, or None.
    """
    folders = {}
    for one in found:
        below = _below(one["path"], facts["site"])
        match = below and METADATA.match(below)
        if match:
            folders[posixpath.dirname(one["path"])] = dists.normalise(match.group(1))
    if not folders:
        return found, {}
    touched = {one["path"] for one in found}
    live, exchanged, owners = dists.versions("%s/%s" % (prefix, facts["site"])), {}, {}
    for folder, name in folders.items():
        was, now, record = facts["packages"].get(name), live.get(name), folder + "/RECORD"
        # Metadata that somebody edited is no other distribution; an installer writes its RECORD too.
        if was == now and record not in touched:
            continue
        exchanged[name] = {"was": was, "now": now, "files": 0, "loaded": 0}
        for text in (content("%s/%s" % (prefix, record)), before(record)):
            for path in _listed(text):
                owners[posixpath.normpath("%s/%s" % (facts["site"], path))] = name
    patched, left = {one["path"] for one in facts["patched"].values()}, []
    for one in found:
        name = owners.get(one["path"], folders.get(posixpath.dirname(one["path"])))
        if name not in exchanged or one["path"] in patched:
            left.append(one)
            continue
        exchanged[name]["files"] += 1
        exchanged[name]["loaded"] += is_loaded(shown(one["path"], facts["site"]))
    return left, exchanged


def _below(path, site):
    return path[len(site) + 1 :] if path.startswith(site + "/") else None


def _listed(text):
    """The paths in the bytes of a RECORD, as written."""
    lines = (text or b"").decode("utf-8", "surrogateescape").splitlines()
    return [row[0] for row in csv.reader(lines) if row]

"""A tree from what a donor has: the listing of one distribution, and the contents that it names, all in the store.

Files are linked from the store, not copied: gigabytes lie there once. When the tree goes, they leave the store with it.
"""

import os

from agent.donor import listing
from agent.fault import Fault
from agent.files import read_json
from agent.overlay import fit, scripts
from agent.overlay.wheel import finish
from agent.store import require
from agent.venv import dists, record
from agent.venv.copying import copy_file, link_or_none
from agent.venv.relocate import LARGEST

OUTSIDE = {"bin": "../../../bin/", "data": "../../../", "headers": "../../../include/"}


def place(layout, overlay, target, meter):
    """Places the files of a `donor` overlay below `target`; returns the tags that bind it."""
    source = overlay["source"]
    site = os.path.join(target, "site")
    rows = []
    for entry in entries(layout, overlay):
        path = os.path.join(target, entry.place)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if entry.mode == listing.LINK:
            os.symlink(entry.target, path)
            continue
        content = layout.content(entry.sha256)
        if not os.path.isfile(content):
            raise _missing(overlay, entry, "not in the store")
        _put(content, path, int(entry.mode, 8), meter)
        rows.append(
            _own(target, entry) if entry.place.startswith("bin/") and _relocate(path, source["venv"]) else _row(entry)
        )
    for dist in dists.installed(site):
        finish(target, dist.info, rows)
    return fit.tags(site, dists.installed(site), os.listdir(site) + [entry.place for entry in entries(layout, overlay)])


def entries(layout, overlay):
    """What the overlay's listing names. Fault `missing-content` when it is not in the store."""
    sha256 = overlay["source"]["listing"]
    require(layout, [sha256], "the listing of " + ", ".join(overlay["packages"]))
    return listing.read(layout.content(sha256))


def require_whole(layout, overlay, hashes):
    """Fault `missing-content` unless each file of the tree (`hashes`: path -> sha256) has the bytes that the listing names."""
    for entry in entries(layout, overlay):
        found = hashes.get(entry.place)
        if entry.mode != listing.LINK and not entry.place.startswith("bin/") and found != entry.sha256:
            _drop(layout, entry.sha256)
            raise _missing(overlay, entry, found or "nothing")


def leave_store(layout, gone, left, others):
    """Takes out of the store what only trees that go needed: their bytes would else stay for nobody. `gone`, `left`: digests of trees.

    others: contents that have another use; a donor's file may well be the one that is patched in elsewhere.
    """
    wanted = set(others) | {sha256 for digest in left for sha256 in _contents(layout, digest)}
    for digest in gone:
        for sha256 in _contents(layout, digest):
            if sha256 not in wanted:
                _drop(layout, sha256)


def _contents(layout, digest):
    """What a tree of ours needs in the store; the digest of one from a donor is that of its listing."""
    made = read_json(os.path.join(layout.tree(digest), "overlay.json")) or {}
    path = layout.content(digest)
    if made.get("source") != "donor" or not os.path.isfile(path):
        return []
    return [entry.sha256 for entry in listing.read(path) if entry.sha256] + [digest]


def _put(content, path, mode, meter):
    facts = os.stat(content)
    # One that another file is linked to already keeps its mode and time: they stand in that one's manifest.
    if facts.st_nlink == 1 and link_or_none(content, path):
        meter.add(facts.st_size)
    else:
        copy_file(content, path, meter)
    os.chmod(path, mode)
    if os.stat(path).st_nlink == 1:
        os.utime(path)


def _relocate(path, venv):
    if os.path.getsize(path) > LARGEST:
        return False
    with open(path, "rb") as file:
        text = file.read()
    fixed = scripts.adopted(text, venv)
    if fixed != text:
        facts = os.stat(path)
        os.unlink(path)
        with open(path, "wb") as file:
            file.write(fixed)
        os.chmod(path, facts.st_mode & 0o777)
    return fixed != text


def _own(target, entry):
    return (_recorded(entry.place),) + record.row(target, entry.place)[1:]


def _row(entry):
    return (_recorded(entry.place), "sha256=" + record.encode(bytes.fromhex(entry.sha256)), str(entry.size))


def _recorded(place):
    part, _, rest = place.partition("/")
    return rest if part == "site" else OUTSIDE[part] + rest


def _drop(layout, sha256):
    try:
        os.unlink(layout.content(sha256))
    except FileNotFoundError:
        return


def _missing(overlay, entry, found):
    return Fault(
        "missing-content",
        "a file of %s is not as its donor has it" % ", ".join(overlay["packages"]),
        where=entry.place,
        found=found,
        expected=entry.sha256,
        remedy="run the command again: what is missing is sent first",
    )

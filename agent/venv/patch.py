"""Patches of installed files: found by module or path, applied to the letter, each changed file a new inode without old bytecode."""

import difflib
import hashlib
import os
import time

from agent.fault import Fault
from agent.files import atomic_write
from agent.store import require
from agent.venv import bytecode, dists, editable, interpreter, record, udiff
from agent.venv.outward import is_inside

NEW_MODE = 0o644


class Patched:
    """One patch as it came out. key: path below the folder that modules are searched in; state: patched, new or already applied."""

    def __init__(self, key, path, state, sha256):
        self.key = key
        self.path = path
        self.state = state
        self.sha256 = sha256


def apply_all(layout, prefix, patches):
    """Applies patches in order to the release at `prefix`; [Patched]. All that fail are said in one Fault; then the release is to be thrown away."""
    require(layout, [patch["sha256"] for patch in patches], "the patches")
    faults, done = [], []
    for patch in patches:
        try:
            item = _apply(layout, prefix, patch)
            _require_first(item, done)
            done.append(item)
        except Fault as fault:
            faults.append((label(patch["target"]), fault))
    if faults:
        raise _all(faults)
    _record(prefix, done)
    return done


def label(target):
    """A target as people write it."""
    return target["module"] if "module" in target else target["path"]


def locate(prefix, target):
    """(path, key) of a target's file in a release: as its interpreter finds it, in site-packages or a source tree. The file may not be there yet."""
    places = editable.search_paths(prefix)
    parts = _parts(target)
    names = ["/".join(parts)] if "path" in target else ["/".join(parts + ["__init__.py"]), "/".join(parts) + ".py"]
    for place in places:
        for name in names:
            if os.path.isfile(os.path.join(place, name)):
                return os.path.join(place, name), name
    # A new file: beside what is there already.
    for place in places:
        if os.path.isdir(os.path.join(place, os.path.dirname(names[-1]))):
            return os.path.join(place, names[-1]), names[-1]
    raise Fault(
        "no-target",
        "nothing to patch: %s is not in this venv" % label(target),
        where=places[0],
        found=_nearest(places, names[-1]),
        expected=names[-1],
        remedy="correct the target, or lay the package that has it",
    )


def _parts(target):
    text = target.get("module") or target.get("path")
    parts = text.split("." if "module" in target else "/")
    if not all(parts) or ".." in parts or text.startswith("/"):
        raise Fault("bad-target", "%r is no module and no path below site-packages" % text, where=text)
    return parts


def _nearest(places, name):
    """What a wrong name may have meant: a file beside it with a similar name, or the deepest folder that is there."""
    folder, file = os.path.split(name)
    while folder and not any(os.path.isdir(os.path.join(place, folder)) for place in places):
        folder, file = os.path.split(folder)
    names = sorted({one for place in places for one in _names(os.path.join(place, folder))})
    close = difflib.get_close_matches(file, names, 3)
    return "%s has %s" % (
        folder or "site-packages",
        "no " + file if not close else "no %s, but %s" % (file, ", ".join(close)),
    )


def _apply(layout, prefix, patch):
    path, key = locate(prefix, patch["target"])
    _require_own(prefix, path, key)
    with open(layout.content(patch["sha256"]), "rb") as file:
        content = file.read()
    before = None
    if os.path.isfile(path):
        with open(path, "rb") as file:
            before = file.read()
    try:
        after = wanted(patch, before, content)
    except Fault as fault:
        fault.more["where"] = key + (", " + fault.more["where"] if "where" in fault.more else "")
        raise
    if after is None or after == before:
        return Patched(key, path, "already applied", _sha256(before))
    write_new(path, after)
    return Patched(key, path, "new" if before is None else "patched", _sha256(after))


def _require_first(item, done):
    """One file may have two names, by module and by path; of two patches of it the first would be lost."""
    if item.key in [one.key for one in done]:
        raise Fault(
            "patched-twice",
            "there is another patch of the same file",
            where=item.key,
            expected="at most one patch for each file",
            remedy="put both changes into one patch",
        )


def _require_own(prefix, path, key):
    """A folder that is a link out of the release holds files of somebody else's."""
    folder = os.path.realpath(os.path.dirname(path))
    if not is_inside(folder, os.path.realpath(prefix)):
        raise Fault(
            "outside",
            "the file to be patched does not lie in the venv: a link leads out of it",
            where=key,
            found=folder,
            expected="a file of the venv's own",
            remedy="lay the package as an overlay from a `directory`, and patch it there",
        )


def wanted(patch, before, content):
    """The bytes that the file is to have; None when it has them."""
    if patch["kind"] == "file":
        if before != content:
            _require_pre(patch, before)
        return content
    if before is None:
        raise Fault(
            "no-target",
            "there is no file that the diff could change",
            expected="the file that the diff was made from",
            remedy="give a new file whole, as `file`",
        )
    after = udiff.apply(before, content)
    if after is not None:
        _require_pre(patch, before)
    return after


def _require_pre(patch, before):
    found = None if before is None else _sha256(before)
    if patch.get("pre") and found != patch["pre"]:
        raise Fault(
            "patch-pre",
            "the file to be patched is not the one that the patch was made for",
            found="sha256 " + found if found else "no file",
            expected="sha256 " + patch["pre"],
            remedy="look at what changed in the base, make the patch again, and give the new hash",
        )


def write_new(path, data):
    """Replaces a file of a release by a new inode with the same mode and owner; its bytecode goes."""
    before = os.stat(path) if os.path.exists(path) else None
    atomic_write(path, data, None if before else NEW_MODE)
    _date(path, before)
    bytecode.drop(path)


def newer(path, old):
    """Dates `path`, which is to replace the file `old`, with now, and at least a second after that file."""
    _date(path, os.stat(old) if os.path.exists(old) else None)


def _date(path, before):
    now = time.time()
    if before and int(now) <= int(before.st_mtime):
        # Bytecode is valid by whole seconds and size, wherever somebody keeps it: the old must not fit the new text.
        now = int(before.st_mtime) + 1
    os.utime(path, (now, now))


def _record(prefix, done):
    """Tells the metadata what was changed: the rows of changed files, and new files of a package that one distribution owns."""
    site = interpreter.site_packages(prefix)
    inside = {item.key for item in done if item.state != "already applied" and item.path.startswith(site + os.sep)}
    record.refresh(site, inside)
    new = [item.key for item in done if item.state == "new" and item.key in inside]
    if not new:
        return
    owners = record.owners(site, dists.installed(site))
    for key in new:
        folder = os.path.dirname(key)
        found = {dist.info for path, them in owners.items() if os.path.dirname(path) == folder for dist in them}
        if len(found) == 1 and key not in owners and folder:
            record.add(site, found.pop(), [key])


def _all(faults):
    name, first = faults[0]
    if len(faults) == 1:
        return Fault(first.code, "patch of %s: %s" % (name, first.message), **first.more)
    lines = [
        "%s: %s%s"
        % (
            name,
            fault.message,
            "".join("; %s %s" % (key, fault.more[key]) for key in ("found", "expected") if key in fault.more),
        )
        for name, fault in faults
    ]
    return Fault(
        first.code,
        "%d patches cannot be applied" % len(faults),
        where=first.more.get("where"),
        detail="\n".join(lines),
        remedy=first.more.get("remedy"),
    )


def _sha256(data):
    return hashlib.sha256(data).hexdigest()


def _names(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []

"""Adopted venvs: what a base is copied from, once per fingerprint, by reading alone."""

import os
import stat

from agent.fault import Fault
from agent.files import names_in, read_json, remove_file
from agent.venv import (
    beside,
    bytecode,
    copying,
    declare,
    editable,
    fingerprint,
    interpreter,
    manifest,
    record,
    relocate,
    space,
    sums,
    tree,
    watch,
)
from agent.venv.copying import Meter, copy_tree
from agent.venv.outward import Outward


def snapshot(layout, original, recipe, whole):
    """The adopted venv as it is, which has to be the recipe's: Fault `base-moved`. None when it is gone and its copy is `whole`."""
    _require_apart(layout.root, original)
    found = fingerprint.snapshot(original, (layout.root,))
    if found is None and whole:
        # What was taken from it stays usable without it.
        return None
    if found is None:
        interpreter.require_venv(original)
    if found.digest != recipe["base"]["fingerprint"]:
        raise _moved(original, "fingerprint " + found.digest[:16], recipe)
    return found


def copy(request, original, found, recipe, temporary, prefix):
    """Copies it, as `snapshot` found it, to `temporary`, to be moved to `prefix`; returns the facts of the base."""
    try:
        made = _copy(request, original, found, temporary, prefix)
    except FileNotFoundError as error:
        raise _moved(original, "%s went while it was copied" % error.filename, recipe)
    snapshot(request.layout, original, recipe, whole=False)
    return made


def known(layout, original):
    """`inode -> sha256` of what a copy may share with an older one."""
    older = _older(layout, original)
    return declare.by_inode(older, _good(older)) if older else {}


def _moved(path, found, recipe):
    return Fault(
        "base-moved",
        "%s was changed since the preview" % path,
        where=path,
        found=found,
        expected="fingerprint " + recipe["base"]["fingerprint"][:16],
        remedy="run `pulumi preview` again and see what the change is",
    )


def _require_apart(root, original):
    if (os.path.realpath(root) + os.sep).startswith(os.path.realpath(original) + os.sep):
        raise Fault(
            "bad-root",
            "the root lies inside the venv that is adopted",
            where=root,
            found=original,
            remedy="choose a root beside that venv",
        )


def _copy(request, original, found, temporary, prefix):
    # Asked of the original and before the copy: it can take minutes, and a path of ours would tell a person nothing.
    interpreter.facts(original)
    older = _older(request.layout, original)
    # What was changed in the older copy is not what the original was, however much its size and time are.
    good = _good(older) if older else {}
    reuse = older and (lambda path, facts: _same(os.path.join(older, path), facts) if path in good else None)
    _require_space(request, original, found, older, temporary)
    meter = Meter("copying " + original, found.size, request.progress, request.check)
    avoid = (request.layout.root,)
    copy_tree(original, temporary, avoid=avoid + (original,), reuse=reuse, meter=meter, leads=Outward(original).leads)
    for name in fingerprint.NOT_COUNTED:
        remove_file(os.path.join(temporary, name))
    request.check()
    relocate.links(temporary, original)
    scripts = relocate.scripts(temporary, [original])
    texts = relocate.replace_path(temporary, original, prefix)
    origins = editable.bring_in(temporary, original, found.sources, avoid + (original,), request.progress)
    record.refresh_below(temporary, interpreter.site_packages(temporary), scripts + texts)
    if older:
        bytecode.carry(older, temporary, [os.path.relpath(path, temporary) for path in bytecode.sources(temporary)])
    return {"kind": "adopt", "path": original, "fingerprint": found.digest, "sources": origins}


def _good(prefix):
    """`path -> sha256` of the files of a base that are what they were when it was made."""
    declared = sums.read(beside.sums(prefix)) or {}
    return watch.compare(prefix, declared, beside.stamps(prefix)).known


def _older(layout, original):
    """The newest base that was copied from the same venv, of whichever of our venvs, or None."""
    found = []
    for venv in names_in(layout.at("venvs")):
        for name in names_in(layout.venv(venv)):
            if name.startswith("base-") and name.endswith(".json"):
                facts = read_json(layout.venv(venv, name))
                if facts.get("path") == original and os.path.isdir(layout.venv(venv, name[:-5])):
                    found.append((facts["made"], layout.venv(venv, name[:-5])))
    return max(found)[1] if found else None


def _same(path, facts):
    """The file of an older base, if it still is what the original is: then the copy is made already."""
    try:
        ours = os.lstat(path)
    except OSError:
        return None
    return path if stat.S_ISREG(ours.st_mode) and _identity(ours) == _identity(facts) else None


def _identity(facts):
    owner = (facts.st_uid, facts.st_gid) if os.geteuid() == 0 else ()
    return (facts.st_size, facts.st_mtime_ns, facts.st_mode) + owner


def _require_space(request, original, found, older, temporary):
    size, count = found.size, found.count
    if older:
        known = manifest.read(beside.manifest(older)) or {}
        size -= sum(tree.parse(line)[1] for path, line in found.lines.items() if known.get(path) == line)
    os.makedirs(os.path.dirname(temporary), exist_ok=True)
    config = os.path.join(original, "pyvenv.cfg")
    if copying.can_reflink(config, temporary + ".probe"):
        size = 0
    space.require(os.path.dirname(temporary), size, count * 2, "a copy of %s" % original)

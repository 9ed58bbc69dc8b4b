"""Bases: what releases are composed from. Ours alone, complete or not there, and never run from."""

import os
import stat
import time

from agent.counted import counted
from agent.fault import Fault
from agent.files import read_json, remove_file, write_json
from agent.store import require
from agent.tidy import remove_tree
from agent.venv import (
    attributes,
    beside,
    bytecode,
    copying,
    declare,
    editable,
    fingerprint,
    interpreter,
    manifest,
    pristine,
    record,
    relocate,
    space,
    stamps,
    sums,
    tree,
    uv,
    watch,
)
from agent.venv.copying import Meter, copy_tree
from agent.venv.outward import Outward


def key_of(base, recipe):
    """The name of a base's folder: the key of a managed one, the first digits of the fingerprint of an adopted one."""
    return base["key"] if "adopt" not in base else (recipe["base"]["fingerprint"] or "none")[:16]


def ensure(request, venv, base, recipe):
    """The folder of a whole base as the recipe names it; made if it is not there, made again if somebody changed it."""
    layout = request.layout
    if "adopt" in base and not recipe["base"]["fingerprint"]:
        interpreter.require_venv(base["adopt"])
    prefix = layout.base(venv, key_of(base, recipe))
    facts = read_json(prefix + ".json")
    drift = _drift(request, prefix) if facts else None
    if drift and attributes.give_back(prefix, drift):
        drift = _drift(request, prefix)
    if "adopt" in base:
        _require_apart(layout.root, base["adopt"])
        found = fingerprint.snapshot(base["adopt"], (layout.root,))
        _require_same(base["adopt"], found, recipe, whole=drift == [])
    if drift == []:
        return prefix
    if drift:
        request.progress("the base was changed by hand, so it is made again: %s" % manifest.describe(drift))
    # Its own name for each run: a uv that outlives a killed run must not write into the next one's.
    temporary = layout.venv(venv, ".tmp-base-%d" % os.getpid())
    remove_tree(temporary)
    try:
        if "adopt" in base:
            try:
                made = _adopt(request, venv, base["adopt"], found, temporary, prefix)
            except FileNotFoundError as error:
                raise _moved(base["adopt"], "%s went while it was copied" % error.filename, recipe)
            _require_same(base["adopt"], fingerprint.snapshot(base["adopt"], (layout.root,)), recipe, whole=False)
        else:
            made = _managed(request, base, temporary, prefix)
        _compile(request, temporary)
        _commit(request, temporary, prefix, made, _known(request, base))
    finally:
        remove_tree(temporary)
    return prefix


def _require_same(path, found, recipe, whole):
    wanted = recipe["base"]["fingerprint"]
    if found is None and whole:
        # The original is gone, and what was taken from it stays usable without it.
        return
    if found is None:
        interpreter.require_venv(path)
    if found.digest != wanted:
        raise _moved(path, "fingerprint " + found.digest[:16], recipe)


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


def _adopt(request, venv, original, found, temporary, prefix):
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
    _refresh_scripts(temporary, scripts + texts)
    if older:
        bytecode.carry(older, temporary, [os.path.relpath(path, temporary) for path in bytecode.sources(temporary)])
    return {"kind": "adopt", "path": original, "fingerprint": found.digest, "sources": origins}


def _managed(request, base, temporary, prefix):
    require(request.layout, [base["requirements"]], "the locked requirements")
    requirements = request.layout.content(base["requirements"])
    installer = uv.find(request, base.get("uv"))
    try:
        installer.make_venv(base["python"], temporary)
        installer.install(temporary, ["-r", requirements], base, bool(base.get("noDeps")))
    finally:
        installer.done()
    scripts = relocate.scripts(temporary, [temporary])
    texts = relocate.replace_path(temporary, temporary, prefix)
    _refresh_scripts(temporary, scripts + texts)
    for name in fingerprint.NOT_COUNTED:
        remove_file(os.path.join(temporary, name))
    return {"kind": "managed", "key": base["key"], "requirements": base["requirements"], "sources": {}}


def _refresh_scripts(prefix, changed):
    site = interpreter.site_packages(prefix)
    record.refresh(site, [os.path.relpath(os.path.join(prefix, path), site) for path in changed])


def _compile(request, prefix):
    """Makes all bytecode once per base: the first start from a release must not wait a minute for it, and its user may not write there."""
    paths = bytecode.sources(prefix)
    told = [0.0]

    def tell(done):
        if time.monotonic() - told[0] > 2:
            told[0] = time.monotonic()
            request.progress("compiling bytecode: %d of %s" % (done, counted(len(paths), "file")))

    # Packages ship files for other Python versions; those do not compile, and nobody imports them.
    bytecode.make(prefix, paths, tell, request.check)


def _known(request, base):
    """`inode -> sha256` of what an adopted base may share with its older copy."""
    older = _older(request.layout, base["adopt"]) if "adopt" in base else None
    return declare.by_inode(older, _good(older)) if older else {}


def _good(prefix):
    """`path -> sha256` of the files of a base that are what they were when it was made."""
    declared = sums.read(beside.sums(prefix)) or {}
    return watch.compare(prefix, declared, beside.stamps(prefix)).known


def _drift(request, prefix):
    """What was changed in a base; None when nobody knows what it was. Each file counts: the releases to come share it."""
    found = manifest.drift(beside.manifest(prefix), prefix)
    declared = sums.read(beside.sums(prefix))
    if found is None or declared is None:
        return None
    seen = watch.compare(prefix, declared, None if request.args.get("verify") else beside.stamps(prefix))
    known = {one["path"] for one in found}
    return found + [{"path": path, "kind": "edited"} for path in seen.changed if path not in known]


def _commit(request, temporary, prefix, made, known):
    lines = tree.lines(temporary)
    size = sum(tree.parse(line)[1] for line in lines.values())
    meter = Meter("hashing the base", size, request.progress, request.check)
    declared = declare.sums_of(temporary, lines, known, meter.add, request.check)
    if made["kind"] == "adopt":
        site = interpreter.site_packages(temporary)
        made.update(foreign=pristine.foreign(temporary, site, declared), leftovers=pristine.leftovers(site))
    remove_file(beside.facts(prefix))
    remove_tree(prefix)
    manifest.write(beside.manifest(prefix), lines)
    sums.write(beside.sums(prefix), declared)
    os.rename(temporary, prefix)
    stamps.write(beside.stamps(prefix), stamps.take(prefix, declared))
    write_json(beside.facts(prefix), dict(made, files=len(lines), made=time.time()))


def _older(layout, original):
    """The newest base that was copied from the same venv, of whichever of our venvs, or None."""
    found = []
    for venv in _names(layout.at("venvs")):
        for name in _names(layout.venv(venv)):
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


def _names(folder):
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []

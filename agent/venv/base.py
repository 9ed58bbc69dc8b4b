"""Bases: what releases are composed from. Ours alone, complete or not there, and never run from."""

import os
import time

from agent.counted import counted
from agent.files import read_json, remove_file, write_json
from agent.store import require
from agent.tidy import remove_tree
from agent.venv import (
    adopted,
    attributes,
    beside,
    bytecode,
    declare,
    fingerprint,
    interpreter,
    manifest,
    pristine,
    record,
    relocate,
    stamps,
    sums,
    tree,
    uv,
    watch,
)
from agent.venv.copying import Meter


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
        found = adopted.snapshot(layout, base["adopt"], recipe, whole=drift == [])
    if drift == []:
        return prefix
    if drift:
        request.progress("the base was changed by hand, so it is made again: %s" % manifest.describe(drift))
    # Its own name for each run: a uv that outlives a killed run must not write into the next one's.
    temporary = layout.venv(venv, ".tmp-base-%d" % os.getpid())
    remove_tree(temporary)
    try:
        if "adopt" in base:
            made = adopted.copy(request, base["adopt"], found, recipe, temporary, prefix)
        else:
            made = _managed(request, base, temporary, prefix)
        _compile(request, temporary)
        _commit(request, temporary, prefix, made, adopted.known(layout, base["adopt"]) if "adopt" in base else {})
    finally:
        remove_tree(temporary)
    return prefix


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
    record.refresh_below(temporary, interpreter.site_packages(temporary), scripts + texts)
    for name in fingerprint.NOT_COUNTED:
        remove_file(os.path.join(temporary, name))
    return {"kind": "managed", "key": base["key"], "requirements": base["requirements"], "sources": {}}


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

"""Composes a release beside what runs: a clone of the base, the overlays in declared order, the patches, then gates 1 and 2."""

import os

from agent.counted import counted
from agent.fault import Fault
from agent.files import read_json
from agent.gates import compile as compile_gate
from agent.gates.beat import Beat
from agent.gates import consistency
from agent.overlay import lay
from agent.overlay import staged as staged_trees
from agent.venv import bytecode, clone, dists, interpreter, patch, record, relocate, superseded


class Composed:
    """What a release became. patched: {key: {sha256, state, path below the release}}; laid, removed, packages: {name: version};

    shared: files that two distributions own, each with other bytes; replaced: sentences about what the overlays replaced besides what they name; notes: what the launched package wants and has not got.
    """

    def __init__(self):
        self.patched = {}
        self.laid = {}
        self.removed = {}
        self.shared = []
        self.replaced = []
        self.notes = []
        self.packages = {}


def staged(layout, venv, kind, digest):
    """What `overlay.stage` or `patch.stage` noted for a venv (kind: overlays, patches), if it is what the release is to be made of."""
    if not digest:
        return []
    path = layout.venv(venv, kind + ".json")
    wish = read_json(path) or {}
    if wish.get("digest") != digest:
        raise Fault(
            "not-staged",
            "the %s of %s that the release is made of are not staged" % (kind, venv),
            where=path,
            found=wish.get("digest", "nothing"),
            expected=digest,
            remedy="run `pulumi up` again without --target, or with the %s among its targets" % kind,
        )
    return wish[kind]


def compose(request, base, prefix, final, overlays, patches, previous=None):
    """Makes the release at `prefix` from the base's folder; `final`: the path it will have; `previous`: a release whose bytecode may serve."""
    layout, result = request.layout, Composed()
    clone.link_tree(base, prefix, request.check)
    relocated = relocate.replace_path(prefix, base, final)
    site = interpreter.site_packages(prefix)
    record.refresh_below(prefix, site, relocated)
    strict, lenient = set(), set()
    python = interpreter.facts(prefix)
    before = consistency.snapshot(site)
    for number, overlay in enumerate(overlays):
        request.check()
        facts = _tree(layout, overlay)
        about = ", ".join("%s %s" % one for one in sorted(facts["packages"].items()))
        request.progress("laying %d of %d: %s" % (number + 1, len(overlays), about))
        was = superseded.Before(site, layout.tree(overlay["digest"]), facts)
        widened = dict(facts, names=list(facts["names"]) + was.names())
        laid = lay.lay(prefix, layout.tree(overlay["digest"]), widened, about, python)
        result.replaced.extend(was.said(set(laid.removed), about))
        files = {os.path.join(site, path) for path in laid.files if path.endswith(".py")}
        (strict if facts["source"] == "directory" else lenient).update(files)
        _account(result, laid)
    request.check()
    done = patch.apply_all(layout, prefix, patches)
    for item in done:
        result.patched[item.key] = {
            "sha256": item.sha256,
            "state": item.state,
            "path": os.path.relpath(item.path, prefix),
        }
        if item.state != "already applied" and item.path.endswith(".py"):
            strict.add(item.path)
    if previous:
        # Those that did not change since are one inode with the last release's: its bytecode spares a compilation.
        carried = bytecode.carry(previous, prefix, [os.path.relpath(path, prefix) for path in lenient])
        lenient = {path for path in lenient if os.path.relpath(path, prefix) not in carried}
    accept = (request.args.get("checks") or {}).get("accept") or ()
    with Beat(request.progress) as beat:
        beat.at("gate compile: %s" % counted(len(strict | lenient), "file"))
        compile_gate.check(prefix, _there(strict), _there(lenient - strict), request.check)
        beat.at("gate consistency")
        result.notes = consistency.check(site, before, result.laid, python["markers"], accept)
    result.packages = dists.versions(site)
    result.shared = record.shared(site)
    return result


def _tree(layout, overlay):
    facts = staged_trees.facts(layout, overlay["digest"])
    if facts is None:
        raise Fault(
            "not-staged",
            "a staged overlay is gone, or was altered by hand",
            where=layout.tree(overlay["digest"]),
            expected="overlay " + overlay["digest"][:12],
            remedy="run `pulumi up` again: it is staged anew",
        )
    return facts


def _account(result, laid):
    for name in laid.removed:
        result.laid.pop(name, None)
    result.laid.update(laid.laid)
    result.removed.update(laid.removed)


def _there(paths):
    """A later overlay may have removed what an earlier one laid."""
    return {path for path in paths if os.path.isfile(path)}

"""`venv.make`, `venv.remove`: one release of a venv, complete or not there, beside whatever runs."""

import errno
import os
import time

from agent.accounts import has_account
from agent.counted import counted
from agent.claims import claim, owns, release_claim
from agent.fault import Fault
from agent.files import explained, names_in, read_json, remove_file, write_json
from agent.lock import locked
from agent.overlay import staged as staged_trees
from agent.store import seal
from agent.tidy import remove_empty, remove_tree
from agent.venv import base as bases
from agent.venv import attributes, beside, collect, declare, manifest, mend, mended, stamps, sums, tree, users, watch
from agent.venv.compose import compose, staged
from agent.venv.interpreter import site_packages


def make(request):
    """See docs/protocol.md. Idempotent: a whole release is left alone, one that was changed by hand is mended."""
    args, layout = request.args, request.layout
    with locked(request, "making release %s of venv %s" % (args["release"], args["venv"])):
        claim(layout, args["claim"])
        collect.remove_unfinished(layout, args["venv"])
        if args["base"].get("requirements"):
            seal(layout, args["base"]["requirements"])
        try:
            made = _make(request, layout, args["venv"], args["release"])
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS):
                raise
            raise explained(error, error.filename or layout.venv(args["venv"])) from error
        finally:
            collect.remove_unfinished(layout, args["venv"])
        write_json(
            layout.venv(args["venv"], "venv.json"),
            {
                "owner": args["claim"]["owner"],
                "release": args["release"],
                "base": _shown(args["base"]),
                "recipe": args["recipe"],
                "keep": args.get("keep", 3),
            },
        )
        collect.collect(request, args["venv"], args["release"], args.get("keep", 3))
        _renew(layout, args["venv"], args["release"], made)
        facts = read_json(layout.release(args["venv"], args["release"]) + ".json")
        base = read_json(beside.facts(layout.venv(args["venv"], facts["base"]))) or {}
    return {
        "release": args["release"],
        "files": facts["files"],
        "packages": facts["packages"],
        "made": made,
        "notes": facts["notes"],
        "shared": facts["shared"],
        "replaced": facts.get("replaced", []),
        "applied": sorted(key for key, one in facts["patched"].items() if one.get("state") == "already applied"),
        "added": sorted(key for key, one in facts["patched"].items() if one.get("state") == "new"),
        "foreign": base.get("foreign", {}),
        "leftovers": base.get("leftovers", []),
    }


def remove(request):
    """Removes the releases and bases of a venv; Fault `in-use` names who runs from one. What was adopted is not touched."""
    layout, wanted = request.layout, request.args["claim"]
    venv = wanted["name"]
    with locked(request, "removing venv %s" % venv):
        if not owns(layout, wanted, read_json(layout.venv(venv, "venv.json"))):
            return {}
        _require_unused(layout, venv)
        remove_file(layout.venv(venv, "venv.json"))
        for name in names_in(layout.venv(venv, "releases")):
            if name.endswith(".json"):
                remove_file(layout.venv(venv, "releases", name))
        for name in [name for name in names_in(layout.venv(venv)) if name.startswith(("base-", ".tmp-"))] + ["releases"]:
            request.check()
            request.progress("removing %s" % name)
            remove_tree(layout.venv(venv, name))
        remove_empty(layout.venv(venv))
        if not [name for name in names_in(layout.at("venvs")) if os.path.exists(layout.venv(name, "venv.json"))]:
            # What only served to build: uv as it was sent, pip's own venv, Pythons that uv fetched.
            for name in ("bin", "tools", "python", "cache"):
                remove_tree(layout.at(name))
        release_claim(layout, wanted)
    return {}


def _shown(base):
    """What a base is, for a look, an import, and overlays from an index. A URL that holds a name or a password stays out."""
    names = ("adopt", "key", "python", "requirements", "noDeps", "indexUrl", "extraIndexUrl", "findLinks")
    return {name: base[name] for name in names if base.get(name) is not None and not has_account(base[name])}


def _make(request, layout, venv, release):
    prefix = layout.release(venv, release)
    drift = _drift(request, prefix)
    if drift and attributes.give_back(prefix, drift):
        drift = _given_back(request, prefix, drift)
    if drift == []:
        return False
    if drift is None and os.path.isdir(prefix):
        _require_not_running(prefix)
    args = request.args
    overlays = staged(layout, venv, "overlays", args.get("overlays"))
    patches = staged(layout, venv, "patches", args.get("patches"))
    base = bases.ensure(request, venv, args["base"], args["recipe"])
    temporary = layout.venv(venv, "releases", ".tmp-" + release)
    os.makedirs(os.path.dirname(temporary), exist_ok=True)
    request.progress("composing release %s" % release)
    previous = (read_json(layout.venv(venv, "venv.json")) or {}).get("release")
    composed = compose(request, base, temporary, prefix, overlays, patches, previous and layout.release(venv, previous))
    request.check()
    declared = declare.sums_of(temporary, tree.lines(temporary), _known(layout, base, overlays), None, request.check)
    if drift:
        request.progress("giving back %s: %s" % (counted(len(drift), "file"), manifest.describe(drift)))
        mend.mend(prefix, temporary, drift)
        left = mend.differences(prefix, temporary)
        if left:
            raise Fault(
                "not-mended",
                "release %s is still not what it was made of" % release,
                where=prefix,
                found=", ".join(left[:5]),
                remedy="stop what writes there, and run `pulumi up` again",
            )
    else:
        collect.remove_release(layout, venv, release)
        os.rename(temporary, prefix)
    _commit(args, prefix, composed, os.path.basename(base), declared, drift)
    return True


def _given_back(request, prefix, drift):
    """The drift that is left. A process may have loaded what was altered and altered back; a mode it has not."""
    left = _drift(request, prefix)
    again = [one for one in drift if one not in left and "mode" not in one]
    facts = read_json(beside.facts(prefix))
    if again:
        noted = mended.note(facts.get("mended") or {}, again, facts["site"])
        write_json(beside.facts(prefix), dict(facts, mended=noted))
    return left


def _known(layout, base, overlays):
    """`inode -> sha256` of what a release shares with its base and its overlays, which were compared just now."""
    found = declare.by_inode(base, _stamped(beside.stamps(base)))
    for overlay in overlays:
        found.update(
            declare.by_inode(
                layout.tree(overlay["digest"]), staged_trees.contents(layout.tree(overlay["digest"])).known
            )
        )
    return found


def _stamped(cache):
    return {path: sha256 for path, (_stamp, sha256) in stamps.read(cache).items()}


def _commit(args, prefix, composed, base, declared, drift):
    lines = tree.lines(prefix)
    site = site_packages(prefix)
    patched = {one["path"] for one in composed.patched.values()}
    watched = declare.watched(prefix, site, {declare.LAUNCHED} | set(composed.laid), patched, declared)
    manifest.write(beside.manifest(prefix), lines)
    sums.write(beside.sums(prefix), declared)
    sums.write(beside.watched(prefix), watched)
    earlier = read_json(beside.facts(prefix)) or {}
    write_json(
        beside.facts(prefix),
        {
            "recipe": args["recipe"],
            "base": base,
            "files": len(lines),
            "packages": composed.packages,
            "patched": composed.patched,
            "laid": composed.laid,
            "shared": composed.shared,
            "replaced": composed.replaced,
            "notes": composed.notes,
            "site": os.path.relpath(site, prefix),
            "made": time.time(),
            "mended": mended.note(earlier.get("mended") or {}, drift or [], os.path.relpath(site, prefix)),
        },
    )


def _drift(request, prefix):
    """What was changed in a release; None when there is none, or none that is complete. Watched files are compared by content."""
    facts = read_json(beside.facts(prefix))
    found = manifest.drift(beside.manifest(prefix), prefix) if facts and os.path.isdir(prefix) else None
    if found is None:
        return None
    return found + watch.edited(prefix, found, bool(request.args.get("verify")), check=request.check)[0]


def _renew(layout, venv, release, made):
    """Takes the stamps anew of what was linked or unlinked here, if it was compared or made under this same lock."""
    prefix = layout.release(venv, release)
    stamps.write(beside.stamps(prefix), stamps.take(prefix, sums.read(beside.watched(prefix)) or {}))
    if not made:
        return
    facts = read_json(beside.facts(prefix))
    base = layout.venv(venv, facts["base"])
    if os.path.exists(beside.stamps(base)):
        stamps.write(beside.stamps(base), stamps.take(base, _stamped(beside.stamps(base))))
    for overlay in (read_json(layout.venv(venv, "overlays.json")) or {"overlays": []})["overlays"]:
        target = layout.tree(overlay["digest"])
        if os.path.exists(os.path.join(target, "stamps")):
            staged_trees.renew(target, _stamped(os.path.join(target, "stamps")))


def _require_not_running(prefix):
    """A release without facts cannot be mended, for nobody knows what it was; and what runs is not taken away."""
    running = users.processes([prefix])
    if running:
        raise Fault(
            "in-use",
            "the release %s lost its facts, and a process runs from it" % os.path.basename(prefix),
            where=prefix,
            found="pid " + ", ".join(str(pid) for pid in running[prefix]),
            remedy="stop that process, or change anything in the venv's layers: that makes another release",
        )


def _require_unused(layout, venv):
    folder = layout.venv(venv, "releases")
    paths = [os.path.join(folder, name) for name in names_in(folder) if os.path.isdir(os.path.join(folder, name))]
    running = users.processes(paths) if paths else {}
    services = sorted(users.committed(layout, venv))
    if running or services:
        pids = ", ".join(str(pid) for found in running.values() for pid in found)
        raise Fault(
            "in-use",
            "venv %s is in use" % venv,
            where=layout.venv(venv),
            found="; ".join(
                (["services " + ", ".join(services)] if services else []) + (["processes " + pids] if pids else [])
            ),
            remedy="remove the services that run from it first",
        )

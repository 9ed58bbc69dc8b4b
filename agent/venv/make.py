"""`venv.make`, `venv.remove`: one release of a venv, complete or not there, beside whatever runs."""

import errno
import os
import time

from agent.claims import claim, owns, release_claim
from agent.fault import Fault
from agent.files import explained, read_json, remove_file, sha256_file, write_json
from agent.lock import locked
from agent.tidy import remove_empty, remove_tree
from agent.venv import base as bases
from agent.venv import collect, manifest, mend, tree, users
from agent.venv.compose import compose, staged
from agent.venv.interpreter import site_packages


def make(request):
    """See docs/protocol.md. Idempotent: a whole release is left alone, one that was changed by hand is mended."""
    args, layout = request.args, request.layout
    with locked(request, "making release %s of venv %s" % (args["release"], args["venv"])):
        claim(layout, args["claim"])
        collect.remove_unfinished(layout, args["venv"])
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
        facts = read_json(layout.release(args["venv"], args["release"]) + ".json")
    return {
        "release": args["release"],
        "files": facts["files"],
        "packages": facts["packages"],
        "made": made,
        "notes": facts["notes"],
        "shared": facts["shared"],
    }


def remove(request):
    """Removes the releases and bases of a venv; Fault `in-use` names who runs from one. What was adopted is not touched."""
    layout, wanted = request.layout, request.args["claim"]
    venv = wanted["name"]
    with locked(request, "removing venv %s" % venv):
        if not owns(layout, wanted):
            return {}
        _require_unused(layout, venv)
        remove_file(layout.venv(venv, "venv.json"))
        for name in _names(layout.venv(venv, "releases")):
            if name.endswith(".json"):
                remove_file(layout.venv(venv, "releases", name))
        for name in [name for name in _names(layout.venv(venv)) if name.startswith(("base-", ".tmp-"))] + ["releases"]:
            request.check()
            remove_tree(layout.venv(venv, name))
        remove_empty(layout.venv(venv))
        if not [name for name in _names(layout.at("venvs")) if os.path.exists(layout.venv(name, "venv.json"))]:
            # What only served to build: uv as it was sent, pip's own venv, Pythons that uv fetched.
            for name in ("bin", "tools", "python", "cache"):
                remove_tree(layout.at(name))
        release_claim(layout, wanted)
    return {}


def _shown(base):
    """What a base is, for a look and for overlays from an index. The URL of an index can hold a password, and stays out."""
    return {name: base[name] for name in ("adopt", "key", "python") if name in base}


def _make(request, layout, venv, release):
    prefix = layout.release(venv, release)
    drift = _drift(prefix)
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
    if drift:
        request.progress("giving back %d files: %s" % (len(drift), manifest.describe(drift)))
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
    _commit(args, prefix, composed, os.path.basename(base))
    return True


def _commit(args, prefix, composed, base):
    lines = tree.lines(prefix)
    manifest.write(manifest.beside(prefix), lines)
    write_json(
        prefix + ".json",
        {
            "recipe": args["recipe"],
            "base": base,
            "files": len(lines),
            "packages": composed.packages,
            "patched": composed.patched,
            "laid": composed.laid,
            "shared": composed.shared,
            "notes": composed.notes,
            "site": os.path.relpath(site_packages(prefix), prefix),
            "made": time.time(),
        },
    )


def _drift(prefix):
    """What was changed in a release; None when there is none, or none that is complete. Patched files are compared by content."""
    facts = read_json(prefix + ".json")
    found = manifest.drift(manifest.beside(prefix), prefix) if facts and os.path.isdir(prefix) else None
    if found is None:
        return None
    known = {one["path"] for one in found}
    for wanted in facts["patched"].values():
        if wanted["path"] not in known and sha256_file(os.path.join(prefix, wanted["path"])) != wanted["sha256"]:
            found.append({"path": wanted["path"], "kind": "edited"})
    return found


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
    paths = [os.path.join(folder, name) for name in _names(folder) if os.path.isdir(os.path.join(folder, name))]
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


def _names(folder):
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []

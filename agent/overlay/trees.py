"""Staged overlays: one folder each, named by the overlay's digest, complete or not there, the same for all venvs of a root.

`<root>/trees/<digest>/`: `site/` goes to site-packages, `bin/` to bin, `data/` to the venv itself, `headers/` to include.
`overlay.json` says what it is, `manifest` and `sums` of which files it was made; `stamps` is a cache (agent/venv/stamps.py).
"""

import os

from agent.fault import Fault
from agent.files import read_json, write_json
from agent.overlay import directory, donated, fit, index, wheel
from agent.overlay.staged import facts, lines, renew
from agent.store import require
from agent.tidy import remove_tree
from agent.venv import dists, manifest, space, sums
from agent.venv.copying import Meter


def make_tree(request, overlay):
    """Stages one overlay (see docs/protocol.md) and returns its `facts`; does nothing when it is there and whole.

    Call it under the lock. An overlay from an index needs the request's `base`, for the interpreter that it is made for.
    """
    layout = request.layout
    known = facts(layout, overlay["digest"])
    if known is not None:
        return known
    target = layout.tree(overlay["digest"])
    temporary = layout.at("trees", ".tmp-" + overlay["digest"][:16])
    remove_tree(temporary)
    os.makedirs(os.path.join(temporary, "site"))
    try:
        tags = _fill(request, overlay, temporary)
        packages = dists.versions(os.path.join(temporary, "site"))
        _require_named(overlay, packages)
        files = lines(temporary)
        manifest.write(os.path.join(temporary, "manifest"), files)
        hashes = sums.hashes(temporary, sums.files(files), None, request.check)
        if overlay["source"]["kind"] == "donor":
            donated.require_whole(layout, overlay, hashes)
        sums.write(os.path.join(temporary, "sums"), hashes)
        write_json(
            os.path.join(temporary, "overlay.json"),
            {
                "packages": packages,
                "names": overlay["packages"],
                "tags": tags,
                "source": overlay["source"]["kind"],
            },
        )
        remove_tree(target)
        os.rename(temporary, target)
        renew(target, sums.read(os.path.join(target, "sums")))
    finally:
        remove_tree(temporary)
    return facts(layout, overlay["digest"])


def _fill(request, overlay, temporary):
    """Puts the overlay's files into a new tree; returns the wheel tags that bind it, [] when nothing does."""
    layout, source = request.layout, overlay["source"]
    site = os.path.join(temporary, "site")
    what = "staging " + ", ".join(overlay["packages"])
    if source["kind"] == "wheel":
        require(layout, [source["sha256"]], source["filename"])
        path = layout.content(source["sha256"])
        space.require(temporary, 3 * os.path.getsize(path), 0, source["filename"])
        return wheel.unpack(path, source["filename"], temporary, Meter(what, 0, request.progress, request.check))
    if source["kind"] == "directory":
        directory.place(layout, overlay, temporary, Meter(what, 0, request.progress, request.check))
        return []
    if source["kind"] == "index":
        base = request.args.get("base") or _known_base(request)
        remove_tree(site)
        index.install(
            request,
            overlay,
            temporary,
            (base.get("adopt") and os.path.join(base["adopt"], "bin", "python")) or base.get("python"),
            base.get("uv"),
        )
        return fit.tags(site, dists.installed(site), [])
    if source["kind"] == "donor":
        return donated.place(layout, overlay, temporary, Meter(what, 0, request.progress, request.check))
    raise Fault(
        "bad-overlay",
        "an overlay of kind %s is not known" % source["kind"],
        remedy="use the same version of the tool on both sides",
    )


def _known_base(request):
    """The base that the venv was last made from, for a caller that does not say it."""
    venv = request.args.get("venv")
    return (venv and (read_json(request.layout.venv(venv, "venv.json")) or {}).get("base")) or {}


def _require_named(overlay, packages):
    """An overlay that brings other distributions than were declared would be shown, and compared, under wrong names."""
    if set(packages) != {dists.normalise(name) for name in overlay["packages"]}:
        raise Fault(
            "wrong-package",
            "an overlay does not bring the distributions that it declares",
            found=", ".join("%s %s" % one for one in sorted(packages.items())) or "nothing",
            expected=", ".join(overlay["packages"]),
            remedy="correct `packages` of this overlay",
        )

"""`overlay.stage`, `overlay.remove`: distributions to lay over the base of a venv, each as a complete tree of its own."""

from agent.accounts import has_account
from agent.claims import claim
from agent.fault import Fault
from agent.files import names_in, read_json, write_json
from agent.lock import locked
from agent.staging import staged
from agent.staging.forget import forget
from agent.store import require
from agent.tidy import remove_tree


def stage(request):
    """Makes the tree of each overlay that has none yet, and notes which are wanted, in order."""
    args, layout = request.args, request.layout
    venv, path = args["venv"], layout.venv(args["venv"], "overlays.json")
    with locked(request, "staging overlays of %s" % venv):
        claim(layout, args["claim"])
        require(layout, _contents(args["overlays"]), "the overlays of %s" % venv)
        before = read_json(path) or {"overlays": []}
        made = [_tree(request, overlay) for overlay in args["overlays"]]
        digests = [overlay["digest"] for overlay in made]
        earlier = [overlay["digest"] for overlay in before["overlays"] if overlay["digest"] not in digests]
        wish = {
            "owner": args["claim"]["owner"],
            "digest": args["digest"],
            "overlays": made,
            "earlier": earlier or before.get("earlier", []),
        }
        write_json(path, wish)
        _drop_unused(layout)
    return staged.overlays(layout, venv)


def missing(request):
    """`overlay.missing`: those of `args["digests"]` of which there is no tree, or none that is whole."""
    from agent.overlay import staged as trees

    return {"missing": [digest for digest in request.args["digests"] if trees.facts(request.layout, digest) is None]}


def remove(request):
    """Forgets the overlays of a venv; trees that no other one wants go. Releases that were made with them keep them."""
    layout = request.layout
    path = layout.venv(request.args["claim"]["name"], "overlays.json")
    return forget(request, "overlays", path, lambda: _drop_unused(layout))


def _tree(request, overlay):
    """One overlay as `overlays.json` keeps it, with its tree made if it is not there, or no longer whole."""
    from agent.overlay import trees

    made = trees.make_tree(request, overlay)
    return {
        "digest": overlay["digest"],
        "packages": made["packages"],
        "names": overlay["packages"],
        "source": _origin(overlay["source"]),
    }


def _origin(source):
    """What an import can declare again. A URL that holds a name or a password stays out; the list of a directory's files is long."""
    left_out = ("files",) if "archive" in source else ("files", "version")
    return {
        name: value
        for name, value in source.items()
        if value is not None and name not in left_out and not has_account(value)
    }


def _contents(overlays):
    """Every content that the sources of these overlays name."""
    for overlay in overlays:
        source = overlay["source"]
        if source["kind"] == "wheel":
            yield source["sha256"]
        elif source["kind"] == "directory":
            for file in source["files"]:
                yield file["sha256"]
        elif source["kind"] == "donor":
            yield source["listing"]
        elif source["kind"] != "index":
            raise Fault(
                "bad-source",
                "an overlay has a source of unknown kind %r" % source["kind"],
                expected="wheel, directory, donor or index",
            )


def _drop_unused(layout):
    """Removes the trees that no venv wants, nor wanted last time: going back one step is to cost nothing."""
    used, patched = set(), set()
    for venv in names_in(layout.at("venvs")):
        wish = read_json(layout.venv(venv, "overlays.json")) or {"overlays": []}
        used.update(overlay["digest"] for overlay in wish["overlays"])
        used.update(wish.get("earlier", []))
        patches = read_json(layout.venv(venv, "patches.json")) or {"patches": []}
        patched.update(patch["sha256"] for patch in patches["patches"])
    gone = [digest for digest in names_in(layout.at("trees")) if digest not in used]
    if gone:
        from agent.overlay import donated

        left = [digest for digest in names_in(layout.at("trees")) if digest in used]
        donated.leave_store(layout, gone, left, patched)
    for digest in gone:
        remove_tree(layout.tree(digest))

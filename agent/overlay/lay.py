"""Lays a tree over a release that is being composed: what it replaces disappears whole, then its files are linked in."""

import os
import re

from agent.fault import Fault
from agent.overlay import fit
from agent.tidy import remove_empty, remove_tree
from agent.venv import bytecode, clone, dists, editable, interpreter, record
from agent.venv.outward import is_inside
from agent.venv.ownership import below, files, own_folders, parents

#: The venv's own files.
OWN = re.compile(r"pyvenv\.cfg$|bin/(python[\d.]*|activate[^/]*)$")


class Laid:
    """What laying changed: the files that were put there (below site-packages), and the distributions that came and went."""

    def __init__(self):
        self.files = []
        self.laid = {}
        self.removed = {}


def lay(prefix, tree, facts, about, python):
    """Lays one staged overlay over the release at `prefix`. facts: `staged.facts`; python: `interpreter.facts` of the release."""
    fit.require(facts["tags"], about, python)
    site = interpreter.site_packages(prefix)
    result = Laid()
    result.laid = dict(facts["packages"])
    installed = dists.installed(site)
    names = set(facts["packages"]) | {dists.normalise(name) for name in facts["names"]}
    old = [dist for dist in installed if dist.name in names]
    rest = [dist for dist in installed if dist.name not in names]
    owners = record.owners(site, rest)
    for dist in old:
        result.removed[dist.name] = dist.version
        _remove(prefix, site, dist, owners)
    new = below(os.path.join(tree, "site"))
    _remove_debris(site, names | {path.split("/")[0] for path in new})
    _remove_unowned(site, new, owners)
    _drop_sources(prefix)
    _drop_links(prefix, site, new)
    for path in new:
        bytecode.drop(os.path.join(site, path))
        clone.put(os.path.join(tree, "site", path), os.path.join(site, path))
        result.files.append(path)
    _lay_beside(tree, prefix, python, about)
    return result


def _remove(prefix, site, dist, owners):
    """Removes a distribution: its recorded files, and all else in folders that are its alone. What others own too stays."""
    paths = files(site, dist, owners)
    for path in paths:
        if path in owners:
            continue
        place = os.path.normpath(os.path.join(site, path))
        # By where it really is: what a link leads to, out of the release, is somebody else's.
        if not is_inside(os.path.realpath(os.path.dirname(place)), os.path.realpath(prefix)):
            continue
        if place.endswith(".py"):
            bytecode.drop(place)
        if os.path.lexists(place) and not (os.path.isdir(place) and not os.path.islink(place)):
            os.unlink(place)
    # Files that were copied in by hand, or made at run time, would mix into what comes next.
    for folder in own_folders([path for path in paths if not path.startswith("../")], owners):
        remove_tree(os.path.join(site, folder))
    remove_tree(os.path.join(site, dist.info))
    _prune(site, paths)


def _remove_debris(site, names):
    for entry in dists.debris(site, names):
        path = os.path.join(site, entry)
        if os.path.isfile(path):
            os.unlink(path)
        remove_tree(path)


def _remove_unowned(site, new, owners):
    """A package that was copied in by hand belongs to no distribution: its folder goes when the overlay brings that package."""
    theirs = {path.split("/")[0] for path in owners}
    for top in sorted(
        {path.split("/")[0] for path in new if path.count("/") and not path.split("/")[0].endswith(".dist-info")}
    ):
        if top not in theirs and os.path.lexists(os.path.join(site, top)) and top + "/__init__.py" in new:
            remove_tree(os.path.join(site, top))


def _drop_sources(prefix):
    """Removes the source trees that no .pth file names any more."""
    folder = os.path.join(prefix, "src")
    if os.path.isdir(folder):
        wanted = {os.path.realpath(path) for path in editable.search_paths(prefix)}
        for name in os.listdir(folder):
            if os.path.realpath(os.path.join(folder, name)) not in wanted:
                remove_tree(os.path.join(folder, name))
        remove_empty(folder)


def _drop_links(prefix, site, new):
    """A folder that is a link out of the release makes way for a real one: what it leads to is somebody else's."""
    inside = os.path.realpath(prefix)
    for folder in sorted({folder for path in new for folder in parents(path)}):
        place = os.path.join(site, folder)
        if os.path.islink(place) and not is_inside(os.path.realpath(place), inside):
            os.unlink(place)


def _lay_beside(tree, prefix, python, about):
    minor = ".".join(python["version"].split(".")[:2])
    places = {"bin": "bin", "data": "", "headers": os.path.join("include", "site", "python" + minor)}
    for part, place in places.items():
        for path in below(os.path.join(tree, part)):
            _refuse_own(os.path.normpath(os.path.join(place, path)), about)
            clone.put(os.path.join(tree, part, path), os.path.join(prefix, place, path))


def _refuse_own(path, about):
    """A RECORD may name anything; what makes the release a venv is not a distribution's to bring."""
    if OWN.match(path):
        raise Fault(
            "bad-path",
            "the overlay of %s would replace the venv's own %s" % (about, path),
            where=path,
            remedy="take that file out of the distribution's RECORD, and of the overlay",
        )


def _prune(site, paths):
    """Removes the folders that have become empty."""
    folders = set()
    for path in paths:
        if not path.startswith("../"):
            folders.update(parents(path))
    for folder in sorted(folders, key=len, reverse=True):
        remove_empty(os.path.join(site, folder, "__pycache__"))
        remove_empty(os.path.join(site, folder))

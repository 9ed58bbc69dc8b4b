"""Editable installs of a donor: the packages lie in a source tree elsewhere, and are taken from there as ordinary ones."""

import json
import os

from agent.fault import Fault
from agent.venv import dists, editable


class Sources:
    """Where the packages of an editable distribution are. trees: {path below site-packages: folder or file}; own: files that only serve to find them."""

    def __init__(self, trees, own):
        self.trees = trees
        self.own = own


def sources(donor, dist):
    """Sources of an editable distribution, None of an ordinary one. Fault `editable-donor` when it cannot be told what its packages are."""
    if not _is_editable(donor, dist):
        return None
    recorded = set(donor.recorded(dist))
    trees, own = {}, {dist.info + "/direct_url.json"}
    for source in editable.sources(donor.prefix):
        if source.pth in recorded:
            own.update(name for name in (source.pth, source.finder) if name)
            for name, path in source.places.items():
                trees.update({name.replace(".", "/"): path} if name else _packages(donor, dist, path))
    if not trees:
        raise Fault(
            "editable-donor",
            "%s is editable on the donor, and its source tree does not say which packages are its own" % dist,
            where=donor.prefix,
            found=", ".join(sorted(_places(donor))) or "no source tree that is there",
            expected="a package named %s, or a top_level.txt that names them" % _module(dist),
            remedy="install it there without -e, or lay a copy of its package over the venv: `from: { directory: … }`",
        )
    return Sources({name + (".py" if os.path.isfile(path) else ""): path for name, path in trees.items()}, own)


def _packages(donor, dist, folder):
    try:
        with open(os.path.join(donor.site, dist.info, "top_level.txt"), encoding="utf-8") as file:
            names = file.read().split()
    except OSError:
        names = [_module(dist)]
    found = {name: os.path.join(folder, name) for name in names if os.path.isdir(os.path.join(folder, name))}
    files = {name: os.path.join(folder, name + ".py") for name in names if name not in found}
    found.update({name: path for name, path in files.items() if os.path.isfile(path)})
    return found


def _module(dist):
    return dists.normalise(dist.name).replace("-", "_")


def _places(donor):
    return {path for source in editable.sources(donor.prefix) for path in source.places.values()}


def _is_editable(donor, dist):
    try:
        with open(os.path.join(donor.site, dist.info, "direct_url.json"), encoding="utf-8") as file:
            return bool(json.load(file).get("dir_info", {}).get("editable"))
    except (OSError, ValueError):
        return False

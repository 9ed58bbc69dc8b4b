"""A tree from files that lie in the content store: a package as somebody has it on disk, with or without metadata."""

import os

from agent.fault import Fault
from agent.overlay.wheel import finish
from agent.store import require
from agent.venv import dists, record
from agent.venv.copying import copy_file


def place(layout, overlay, target, meter):
    """Places the files of a `directory` overlay below `<target>/site`; metadata that is not among them is made."""
    site = os.path.join(target, "site")
    files = overlay["source"]["files"]
    require(layout, [file["sha256"] for file in files], "the overlay of " + ", ".join(overlay["packages"]))
    for file in files:
        path = os.path.join(site, _inside(file["path"]))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        copy_file(layout.content(file["sha256"]), path, meter)
        os.chmod(path, file.get("mode", 0o644) & 0o777)
        # The file was put here now: bytecode of what it replaces must not look younger.
        os.utime(path)
    if not [dist for dist in dists.installed(site) if dist.info.endswith(".dist-info")]:
        _describe(overlay, site, target, sorted(file["path"] for file in files))


def _inside(path):
    if os.path.isabs(path) or ".." in path.split("/"):
        raise Fault("bad-path", "an overlay's file leads out of site-packages: %s" % path, where=path)
    return path


def _describe(overlay, site, target, paths):
    """Metadata for files that came with none, so that what is installed can be seen, and removed, as distributions of the declared names."""
    version = overlay["source"]["version"]
    names = [dists.normalise(name).replace("-", "_") for name in overlay["packages"]]
    for declared, name in zip(overlay["packages"], names):
        info = "%s-%s.dist-info" % (name, version)
        os.makedirs(os.path.join(site, info), exist_ok=True)
        with open(os.path.join(site, info, "METADATA"), "w", encoding="utf-8") as file:
            file.write(
                "Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: files laid here by pulumi-sglang, without metadata of their own\n"
                % (declared, version)
            )
        # A top-level folder belongs to the distribution of its name, the rest to the first one.
        own = [path for path in paths if _owner(path, names) == name]
        finish(target, info, [record.row(site, path) for path in own + [info + "/METADATA"]])


def _owner(path, names):
    top = dists.normalise(path.split("/")[0].replace(".py", "")).replace("-", "_")
    return top if top in names else names[0]

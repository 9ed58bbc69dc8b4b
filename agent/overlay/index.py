"""A tree from a package index, by uv on the host: what it would install, and nothing besides."""

import os

from agent.fault import Fault
from agent.tidy import remove_tree
from agent.venv import dists, interpreter, record, relocate, uv

# What a new venv has in site-packages before anything is installed.
VENV_OWN = ("_virtualenv.py", "_virtualenv.pth", "__pycache__")


def install(request, overlay, target, python, uv_digest=None):
    """Installs the requirement of an `index` overlay, without dependencies, for `python` (a path, or a version for uv)."""
    if not python:
        raise Fault(
            "no-base",
            "%s cannot be taken from an index before its base is known" % overlay["source"]["requirement"],
            expected="`base` in the request",
            remedy="stage it together with its venv's base",
        )
    scratch = os.path.join(target, "scratch")
    installer = uv.find(request, uv_digest)
    try:
        installer.make_venv(python, scratch)
        installer.install(scratch, [overlay["source"]["requirement"]], overlay["source"], no_deps=True)
    finally:
        installer.done()
    relocate.scripts(scratch, [scratch])
    _take(scratch, target)
    remove_tree(scratch)


def _take(scratch, target):
    """Moves what was installed to where a tree has it."""
    site = interpreter.site_packages(scratch)
    os.makedirs(os.path.join(target, "site"))
    os.makedirs(os.path.join(target, "bin"))
    for name in os.listdir(site):
        if name not in VENV_OWN:
            os.rename(os.path.join(site, name), os.path.join(target, "site", name))
    for row in _outside(os.path.join(target, "site")):
        source = os.path.normpath(os.path.join(site, row))
        below = os.path.relpath(source, scratch)
        place = os.path.join(target, below if below.startswith("bin/") else os.path.join("data", below))
        if os.path.isfile(source):
            os.makedirs(os.path.dirname(place), exist_ok=True)
            os.rename(source, place)


def _outside(site):
    """RECORD's paths that lead out of site-packages."""
    return [path for dist in dists.installed(site) for path in record.files(site, dist) or [] if path.startswith("../")]

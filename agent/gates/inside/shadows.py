"""Packages that hide the candidate's own: a directory of the same name in the working directory, a copy in the user site."""

import importlib.machinery
import os
import sys

from . import standin
from .places import entry


def foreign(name, module, places):
    """(kind of place, sentence) when a top-level module was not loaded from the release or the standard library, else None."""
    if getattr(module, "__file__", None) is None:
        return namespace(name, module, places)
    kind, phrase = places.name(entry(module))
    if kind in ("release", "stdlib"):
        return None
    return kind, "%s is imported from %s: %s%s" % (name, phrase, module.__file__, instead_of(name, places))


def namespace(name, module, places):
    """The same for a package without a file. One that lies in the release (nvidia, google) is no shadow."""
    for folder in list(getattr(module, "__path__", None) or []):
        kind, phrase = places.name(os.path.dirname(folder))
        if kind not in ("release", "stdlib"):
            text = "%s is only a namespace package: the directory %s without an __init__.py, in %s" % (
                name,
                folder,
                phrase,
            )
            return kind, text + instead_of(name, places)
    return None


def hidden(name, places):
    """The sentence for a package whose submodule is missing because something hides the package, or None."""
    module = sys.modules.get(name)
    if module is None or isinstance(module, standin.StandIn):
        return None
    found = foreign(name, module, places)
    return found[1] if found else None


def instead_of(name, places):
    """`; it hides FILE` for the one in the release that would have been found without the shadow."""
    for file in others(name):
        if places.name(os.path.dirname(os.path.dirname(file)))[0] == "release":
            return "; it hides %s" % file
    return ""


def others(name):
    """Files that any finder knows for a top-level name, path entries one by one, editable finders by asking them."""
    for folder in sys.path:
        spec = importlib.machinery.PathFinder.find_spec(name, [folder])
        if spec is not None and spec.origin:
            yield spec.origin
    for finder in sys.meta_path:
        if (
            finder is importlib.machinery.PathFinder
            or isinstance(finder, standin.StandIns)
            or not hasattr(finder, "find_spec")
        ):
            continue
        try:
            spec = finder.find_spec(name, None)
        except Exception:  # a finder of somebody else's that does not like the question
            continue
        if spec is not None and spec.has_location:
            yield spec.origin

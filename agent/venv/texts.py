"""The texts of a release's files: as the layers below the patches have them, as the release was made, as they are now. Reads only."""

import hashlib
import os

from agent.fault import Fault
from agent.files import read_json
from agent.venv import patch
from agent.venv.drift import Drift, drift_of

#: A larger file is not compared line by line.
LARGEST = 2 << 20


class Texts:
    """The files of one release, by default the one that was last made of a venv; `there` is False when there is none."""

    def __init__(self, layout, venv, release=None):
        self._layout = layout
        wish = read_json(layout.venv(venv, "venv.json")) or {}
        self.prefix = layout.release(venv, release or wish.get("release") or "none")
        self._facts = read_json(self.prefix + ".json")
        self.there = self._facts is not None and os.path.isdir(self.prefix)
        if self.there:
            recipe = self._facts["recipe"]
            self._base = layout.venv(venv, self._facts["base"])
            self._overlays = _wish(layout.venv(venv, "overlays.json"), "overlays", recipe["overlays"])
            self._patches = _wish(layout.venv(venv, "patches.json"), "patches", recipe["patches"])

    def drift(self):
        """Drift of what was changed in it since it was made."""
        return drift_of(self.prefix, self._facts, self.before)[0] if self.there else Drift([], {})

    def locate(self, target):
        """(path below the release, name below the folder that modules are searched in) of a target; Fault `no-target`."""
        path, key = patch.locate(self.prefix, target)
        return os.path.relpath(path, self.prefix), key

    def now(self, path):
        return _read(os.path.join(self.prefix, path))

    def before(self, path):
        """Without patches: of the last overlay that has it, else of the base. None when it cannot be told."""
        if self._overlays is None:
            return None
        site = self._facts["site"] + "/"
        for overlay in reversed(self._overlays if path.startswith(site) else []):
            found = _read(os.path.join(self._layout.tree(overlay["digest"]), "site", path[len(site) :]))
            if found is not None:
                return found
        return _read(os.path.join(self._base, path))

    def made(self, path, key):
        """As the release was made: patched, if it was. None when it cannot be told."""
        before, patched = self.before(path), self._facts["patched"].get(key)
        if patched is None:
            return before
        for one in self._patches or []:
            try:
                if self.locate(one["target"])[0] != path:
                    continue
                content = _read(self._layout.content(one["sha256"]))
                after = None if content is None else patch.wanted(one, before, content)
            except Fault:
                continue
            for text in (after, before):
                if text is not None and hashlib.sha256(text).hexdigest() == patched["sha256"]:
                    return text
        return None


def _wish(path, kind, digest):
    """What was staged, if it is what the release was made of; None when that is not there any more."""
    if not digest:
        return []
    wish = read_json(path) or {}
    return wish[kind] if wish.get("digest") == digest else None


def _read(path):
    try:
        if os.path.getsize(path) > LARGEST:
            return None
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None

"""What the layers of a release changed of its base, by the manifests of both."""

import filecmp
import os
import re

from agent.files import read_json
from agent.gates.static.elf import Elf, NotElf, build_id
from agent.venv import manifest, tree

LIBRARY = re.compile(r"\.so(\.[\w.-]+)?$")
MOST_COMPARED = 64 << 20


class Changes:
    """known: whether it can be told at all; base: its folder, or None when that is gone; laid: {distribution: version};

    libraries: every shared object of the release; changed, gone: those that are new or other than in the base, and no longer there.
    All paths are relative to the release.
    """

    def __init__(self, release):
        facts = read_json(release + ".json")
        self.known = facts is not None
        self.laid = facts["laid"] if facts else {}
        self.libraries = _libraries(release)
        self.base, self.changed, self.gone = None, set(), set()
        if not facts:
            return
        base = os.path.join(os.path.dirname(os.path.dirname(release)), facts["base"])
        if not os.path.isdir(base):
            # Bases stay as long as a release needs them; without one, what overlays brought counts as changed.
            self.changed = set(self.libraries) if self.laid else set()
            return
        self.base = base
        before = set(_libraries(base))
        self.gone = before - set(self.libraries)
        self.changed = {
            path
            for path in self.libraries
            if path not in before or not same(os.path.join(base, path), os.path.join(release, path))
        }


def same(one, other):
    """Whether two files are the same library: the same file, or one size and build id, or the same bytes."""
    try:
        first, second = os.stat(one), os.stat(other)
        if os.path.samestat(first, second):
            return True
        if first.st_size != second.st_size:
            return False
        ids = [build_id(Elf(path)) for path in (one, other)]
        if None not in ids:
            return ids[0] == ids[1]
    except NotElf:
        pass
    except OSError:
        return False
    return first.st_size <= MOST_COMPARED and filecmp.cmp(one, other, shallow=False)


def _libraries(prefix):
    """By the manifest where there is one, else by looking: of 40,000 lines only those that can matter are taken apart."""
    try:
        with open(manifest.beside(prefix), encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            found = [tree.parse(line.rstrip("\n"))[3] for line in file if ".so" in line and line.count("\t") == 4]
    except (FileNotFoundError, NotADirectoryError):
        found = tree.lines(prefix)
    return sorted(path for path in found if LIBRARY.search(path))

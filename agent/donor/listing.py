"""What one distribution is made of, as a text: its sha256 is the distribution's digest, and it travels as a content of its own.

First line `sglang listing 1 <name> <version>`; then one line a file, by place: `mode<TAB>size<TAB>sha256<TAB>place`. A link inside of the
distribution has mode 120000 and, in place of the hash, its target. Places are those of a staged tree (agent/overlay/trees.py), escaped: a listing is UTF-8 also where
a name is not, for who passes it on must not change what it stands for.
"""

import hashlib
import re

from agent.fault import Fault
from agent.rows import rows
from agent.venv import tree

FIRST = "sglang listing 1"
LINK = "120000"
STRAY = re.compile("[\udc80-\udcff]")
ESCAPED = re.compile(r"\\\\|\\x([0-9a-f]{2})")


class Entry:
    """One file or link. mode: 755, 644 or LINK; sha256: None of a link; target: None of a file."""

    def __init__(self, place, mode, size, sha256, target=None):
        self.place = place
        self.mode = mode
        self.size = size
        self.sha256 = sha256
        self.target = target


def text(name, version, entries):
    """The listing as bytes."""
    lines = ["%s %s %s" % (FIRST, name, version)]
    for one in sorted(entries, key=lambda entry: entry.place):
        what = _escaped(one.target) if one.mode == LINK else one.sha256
        lines.append("%s\t%d\t%s\t%s" % (one.mode, one.size, what, _escaped(one.place)))
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")


def digest(data):
    """The digest of a distribution: of its listing."""
    return hashlib.sha256(data).hexdigest()


def read(path):
    """[Entry] of a listing in a file. Fault `newer-format` for one of another form, `bad-path` when a place leads out of a tree."""
    entries = []
    for row in rows(path, FIRST, "use the same version of the tool on both sides"):
        mode, size, what, place = row.split("\t")
        link = mode == LINK
        entry = Entry(_plain(place), mode, int(size), None if link else what, _plain(what) if link else None)
        _require_inside(entry)
        entries.append(entry)
    return entries


def _escaped(text):
    return STRAY.sub(lambda match: "\\x%02x" % (ord(match.group()) - 0xDC00), tree.escape(text))


def _plain(text):
    return tree.unescape(
        ESCAPED.sub(lambda match: chr(0xDC00 + int(match.group(1), 16)) if match.group(1) else match.group(), text)
    )


def _require_inside(entry):
    parts = entry.place.split("/")
    depth = len(parts) - 2
    for part in (entry.target or "").split("/"):
        depth += -1 if part == ".." else part not in ("", ".")
    out = parts[0] not in ("site", "bin", "data", "headers") or len(parts) < 2 or ".." in parts or "" in parts
    if out or (entry.target is not None and (entry.target.startswith("/") or depth < 0)):
        raise Fault(
            "bad-path", "a listing names a file that leads out of its tree: %s" % entry.place, where=entry.place
        )

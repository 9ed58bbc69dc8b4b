"""Unified diffs, applied to the letter: each hunk at its stated line, each line of context as it says. No fuzz, no searching, no reversing.

Bytes in, bytes out. Lines end with LF or CRLF; a diff that lost its CRs (mail, an editor) is still good for a file of CRLF lines.
"""

import re

from agent.fault import Fault

HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
NO_NEWLINE = b"\\"


class Hunk:
    """One hunk. old, new: its two sides, as lists of lines with their ends; at the stated first lines (0-based).

    lead, trail: how many lines of context it begins and ends with.
    """

    def __init__(self, number, old_start, new_start):
        self.number = number
        self.old_start = old_start
        self.new_start = new_start
        self.old = []
        self.new = []
        self.kinds = []

    @property
    def lead(self):
        return next((index for index, kind in enumerate(self.kinds) if kind != b" "), len(self.kinds))

    @property
    def trail(self):
        return next((index for index, kind in enumerate(reversed(self.kinds)) if kind != b" "), len(self.kinds))


def parse(diff):
    """The hunks of a diff of one file; Fault `bad-diff` when it is none, or of several files."""
    lines = _lines(diff)
    if lines and all(line.endswith(b"\r\n") for line in lines if line.endswith(b"\n")):
        lines = [line[:-2] + b"\n" if line.endswith(b"\r\n") else line for line in lines]
    hunks = []
    index = files = 0
    while index < len(lines):
        line = lines[index]
        if line.startswith((b"GIT binary patch", b"Binary files ")):
            raise _bad("it is of a binary file", index)
        if line.startswith(b"--- ") and index + 1 < len(lines) and lines[index + 1].startswith(b"+++ "):
            files += 1
            if lines[index + 1].startswith(b"+++ /dev/null"):
                raise _bad("it deletes the file", index + 1)
            index += 2
            if files > 1:
                raise _bad("it changes more than one file", index)
            continue
        match = HUNK.match(line)
        index += 1
        if match:
            index = _read_hunk(match, lines, index, hunks)
    if not hunks:
        raise _bad("it has no hunk", 0)
    return hunks


def apply(text, diff):
    """The patched text of `text`; None when the diff is in it already. Fault `patch-does-not-apply` shows the first line that differs."""
    hunks = _with_ends_of(parse(diff), text)
    lines = _lines(text)
    forward = _mismatch(lines, hunks, "old", "old_start")
    applied = _mismatch(lines, hunks, "new", "new_start")
    if forward is None and applied is None:
        raise Fault(
            "patch-ambiguous",
            "the diff can be read as applied already and as not yet",
            expected="context that tells the two apart",
            remedy="make the diff with more context lines (diff -U 3), or give the file whole",
        )
    if applied is None:
        return None
    if forward is not None:
        raise _does_not_apply(lines, forward)
    result = []
    position = 0
    for hunk in hunks:
        result.extend(lines[position : hunk.old_start])
        result.extend(hunk.new)
        position = hunk.old_start + len(hunk.old)
    return b"".join(result + lines[position:])


def _read_hunk(match, lines, index, hunks):
    counts = [int(match.group(group)) if match.group(group) is not None else 1 for group in (2, 4)]
    starts = [int(match.group(group)) for group in (1, 3)]
    # A side of no lines names the line after which it is.
    hunk = Hunk(len(hunks) + 1, *[start - 1 if count else start for start, count in zip(starts, counts)])
    first = index
    while len(hunk.old) < counts[0] or len(hunk.new) < counts[1]:
        line = lines[index] if index < len(lines) else b""
        kind, rest = line[:1], line[1:]
        if line == b"\n":
            # Editors strip the blank that an empty line of context has.
            kind, rest = b" ", b"\n"
        if kind not in (b" ", b"+", b"-"):
            raise _bad(
                "hunk %d ends before it has the %d and %d lines it states" % (hunk.number, counts[0], counts[1]), index
            )
        if index + 1 < len(lines) and lines[index + 1].startswith(NO_NEWLINE):
            rest = rest[:-1]
            index += 1
        elif not rest.endswith(b"\n"):
            rest += b"\n"
        hunk.kinds.append(kind)
        if kind != b"+":
            hunk.old.append(rest)
        if kind != b"-":
            hunk.new.append(rest)
        index += 1
    if (len(hunk.old), len(hunk.new)) != tuple(counts):
        raise _bad(
            "hunk %d states %d and %d lines and has %d and %d"
            % (hunk.number, counts[0], counts[1], len(hunk.old), len(hunk.new)),
            first,
        )
    if hunks and hunk.old_start < hunks[-1].old_start + len(hunks[-1].old):
        raise _bad("hunk %d overlaps the one before it" % hunk.number, first)
    hunks.append(hunk)
    return index


def _with_ends_of(hunks, text):
    """Hunks whose lines end as those of the file do, where the diff has no CR at all and the file has nothing else."""
    ends = [line for line in _lines(text) if line.endswith(b"\n")]
    if not ends or not all(line.endswith(b"\r\n") for line in ends):
        return hunks
    for hunk in hunks:
        if any(line.endswith(b"\r\n") for line in hunk.old + hunk.new):
            return hunks
    for hunk in hunks:
        hunk.old = [_crlf(line) for line in hunk.old]
        hunk.new = [_crlf(line) for line in hunk.new]
    return hunks


def _crlf(line):
    return line[:-1] + b"\r\n" if line.endswith(b"\n") else line


def _mismatch(lines, hunks, side, start):
    """The first place where one side of the hunks is not in the file, as (hunk, its line, line of the file, 0-based); None if all is."""
    for hunk in hunks:
        wanted, first = getattr(hunk, side), getattr(hunk, start)
        for offset, line in enumerate(wanted):
            if first + offset >= len(lines) or lines[first + offset] != line:
                return hunk, line, first + offset
        # diff gives context below too, unless the file ends there.
        if hunk.lead and not hunk.trail and first + len(wanted) != len(lines):
            return hunk, b"", first + len(wanted)
        if first > len(lines):
            return hunk, b"", len(lines)
    # A side without a single line is found everywhere, and so nowhere.
    return None if any(getattr(hunk, side) for hunk in hunks) or side == "old" else (hunks[0], b"", 0)


def _does_not_apply(lines, place):
    hunk, wanted, index = place
    found = _shown(lines[index]) if index < len(lines) else "the end of the file"
    elsewhere = [
        start + 1
        for start in range(len(lines) - len(hunk.old) + 1)
        if hunk.old and lines[start : start + len(hunk.old)] == hunk.old
    ]
    hint = " (its lines are found at line %s)" % ", ".join(str(one) for one in elsewhere[:3]) if elsewhere else ""
    return Fault(
        "patch-does-not-apply",
        "hunk %d does not apply at line %d%s" % (hunk.number, index + 1, hint),
        found=found,
        expected=_shown(wanted) if wanted else "the end of the file",
        remedy="make the diff again from the file that this base has",
    )


def _shown(line):
    text = line.decode("utf-8", "replace")
    if not text.endswith("\n"):
        return repr(text) + " without a line end"
    return repr(text[:-1])


def _lines(text):
    # splitlines would also split at form feeds and lone CRs.
    parts = text.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _bad(what, index):
    return Fault(
        "bad-diff",
        "this is no unified diff of one file: %s" % what,
        where="line %d of the diff" % (index + 1),
        remedy="make it with `diff -u old new` or `git diff`",
    )

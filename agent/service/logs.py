"""The log of a service: a file, or the journal of systemd. Read from a mark on, and its end."""

import os
import re
import time

from agent.output import output

_WINDOW = 64 * 1024


class FileLog:
    """A log file; the mark is (inode, offset), so that a rotated file is read from its start."""

    def __init__(self, path):
        self.path = path

    def __str__(self):
        return self.path

    def mark(self):
        try:
            seen = os.stat(self.path)
        except OSError:
            return [0, 0]
        return [seen.st_ino, seen.st_size]

    def since(self, mark):
        """(text, new mark); at most the last 64 kB."""
        inode, offset = mark
        try:
            with open(self.path, "rb") as file:
                seen = os.fstat(file.fileno())
                if seen.st_ino != inode or seen.st_size < offset:
                    offset = 0
                file.seek(max(offset, seen.st_size - _WINDOW))
                blob = file.read(_WINDOW)
                return blob.decode("utf-8", "replace"), [seen.st_ino, file.tell()]
        except OSError:
            return "", mark


class JournalLog:
    """The journal of one unit; the mark is a cursor, or the time from which on to read."""

    def __init__(self, unit, user=False):
        self.unit = unit
        self.user = user

    def __str__(self):
        return "journalctl %s %s" % ("--user -u" if self.user else "-u", self.unit)

    def mark(self):
        return "@%.3f" % time.time()

    def since(self, mark):
        place = ["--since", mark] if mark.startswith("@") else ["--after-cursor", mark]
        argv = ["journalctl", "--quiet", "--no-pager", "-o", "cat", "-n", "400", "--show-cursor"] + place
        argv += (["--user"] if self.user else []) + ["-u", self.unit]
        said = output(argv, 20)
        text, _, cursor = said.rpartition("-- cursor: ")
        return (text, cursor.strip()) if cursor else (said, mark)


def last_lines(text, count=30):
    """The end of a log for a message; a progress bar that was drawn over itself shows as it stood last."""
    lines = [re.split(r"\r+", line.rstrip("\r"))[-1].rstrip() for line in text.split("\n")]
    return "\n".join([line for line in lines if line][-count:])

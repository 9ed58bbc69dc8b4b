"""Room on a file system, asked before something large is begun."""

import os

from agent.fault import Fault
from agent.files import existing, free_bytes

# What a host needs to stay usable while we build.
SPARE_BYTES = 256 << 20
SPARE_INODES = 1000


def require(path, size, files, what):
    """Faults unless `size` bytes and `files` inodes fit below `path`, with something to spare."""
    place = existing(path)
    facts = os.statvfs(place)
    free = free_bytes(place)
    if free < size + SPARE_BYTES:
        raise Fault(
            "no-space",
            "no room for %s" % what,
            where=place,
            found="%s free" % _size(free),
            expected="%s, and %s to spare" % (_size(size), _size(SPARE_BYTES)),
            remedy="free space there, lower `keep`, or choose a root on another file system",
        )
    # Some file systems (btrfs) count none and say 0 of 0.
    if facts.f_files and facts.f_ffree < files + SPARE_INODES:
        raise Fault(
            "no-space",
            "not enough inodes for %s" % what,
            where=place,
            found="%d free" % facts.f_ffree,
            expected="%d, and %d to spare" % (files, SPARE_INODES),
            remedy="remove files there, or choose a root on another file system",
        )


def _size(size):
    return "%.1f GB" % (size / 1e9) if size >= 1e8 else "%.1f MB" % (size / 1e6)

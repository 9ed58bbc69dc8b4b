"""/etc/ld.so.cache: which file the loader takes for a soname that no search path leads to. Only glibc's newer format is read."""

import struct

MAGIC = b"glibc-ld.so.cache1.1"
HEADER = struct.Struct("<20sIIB3xI12x")
ENTRY = struct.Struct("<iIIIQ")
EXTENSIONS = 0xEAA42174
HWCAPS_TAG = 1
HAS_HWCAP = 1 << 62
# `flags` of an entry for this kind of library: ELF for libc 6, with the bits of the architecture.
KINDS = {("x86_64", 64): 0x0303, ("aarch64", 64): 0x0A03, ("i386", 32): 0x0003, ("riscv64", 64): 0x1003}


class Cache:
    """The entries for one architecture, as {soname: [path]}, the loader's choice first. A cache that cannot be read has none."""

    def __init__(self, data, machine, bits, subdirs=()):
        self.paths = {}
        start = data.find(MAGIC)
        if start < 0:
            return
        try:
            self._read(memoryview(data)[start:], KINDS.get((machine, bits)), list(subdirs))
        except (struct.error, IndexError):
            self.paths = {}

    def _read(self, data, kind, subdirs):
        _magic, count, _strings, _flags, extensions = HEADER.unpack_from(data, 0)
        names = _hwcaps(data, extensions) if extensions else []
        found = {}
        for number in range(count):
            flags, key, value, _os, hwcap = ENTRY.unpack_from(data, HEADER.size + number * ENTRY.size)
            if flags != kind:
                continue
            rank = len(subdirs)
            if hwcap & HAS_HWCAP:
                name = names[hwcap & 0xFFFFFFFF]
                if name not in subdirs:
                    continue
                rank = subdirs.index(name)
            elif hwcap:
                # Loaders before 2.33 chose by these bits; what they meant is compiled into them.
                continue
            found.setdefault(_text(data, key), []).append((rank, number, _text(data, value)))
        self.paths = {name: [path for _rank, _number, path in sorted(entries)] for name, entries in found.items()}


def read(machine, bits, subdirs=(), path="/etc/ld.so.cache"):
    """The cache of this host. subdirs: names of glibc-hwcaps folders that this processor has, the best first."""
    try:
        with open(path, "rb") as file:
            return Cache(file.read(), machine, bits, subdirs)
    except OSError:
        return Cache(b"", machine, bits)


def _hwcaps(data, at):
    """The names of the glibc-hwcaps folders, by the numbers under which entries mention them."""
    magic, count = struct.unpack_from("<II", data, at)
    if magic != EXTENSIONS:
        return []
    for number in range(count):
        tag, _flags, offset, size = struct.unpack_from("<IIII", data, at + 8 + 16 * number)
        if tag == HWCAPS_TAG:
            return [_text(data, one) for one in struct.unpack_from("<%dI" % (size // 4), data, offset)]
    return []


def _text(data, at):
    end = at
    while data[end]:
        end += 1
    return bytes(data[at:end]).decode("utf-8", "surrogateescape")

"""Reads what the dynamic loader reads of a shared object: headers, the dynamic section and the dynamic symbols, by pread."""

import contextlib
import os
import struct

EM_NAMES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}
PT_LOAD, PT_DYNAMIC, PT_INTERP, PT_NOTE = 1, 2, 3, 4
NEEDED, HASH, STRTAB, SYMTAB, STRSZ, SONAME, RPATH, RUNPATH = 1, 4, 5, 6, 10, 14, 15, 29
GNU_HASH, FLAGS_1, VERDEF, VERDEFNUM, VERNEED, VERNEEDNUM = (
    0x6FFFFEF5,
    0x6FFFFFFB,
    0x6FFFFFFC,
    0x6FFFFFFD,
    0x6FFFFFFE,
    0x6FFFFFFF,
)
NODEFLIB = 0x800
WEAK_VERSION = 2
GLOBAL, WEAK, UNIQUE = 1, 2, 10
HIDDEN = (1, 2)
NOTE_BUILD_ID = 3
# No table of a real library comes near it; a damaged header must not make us read gigabytes.
MOST_BYTES = 1 << 29
MOST_VERSIONS = 4096


class NotElf(Exception):
    """The file is no little-endian ELF object that can be read; the text says why."""


class Elf:
    """One object. Texts are str with surrogates; `rpath` is empty where a RUNPATH is, as the loader has it.

    needed: sonames in order; needs: {soname: [(version, weak)]}; versions: what it defines (empty: it has no versions);
    nodeflib: it wants no default directories.
    """

    def __init__(self, path):
        self.path = path
        with self._reading():
            self._read()

    @contextlib.contextmanager
    def _reading(self):
        """Opens the file for as long as is read of it; what a damaged one leads to is a NotElf."""
        try:
            # What is a pipe under a library's name would never open otherwise; reading of it fails.
            with open(
                self.path, "rb", buffering=0, opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)
            ) as file:
                self._fd = file.fileno()
                yield
        except (struct.error, IndexError, OverflowError, ValueError) as error:
            raise NotElf("its headers are damaged (%s)" % error)

    def _read(self):
        head = os.pread(self._fd, 64, 0)
        if head[:4] != b"\x7fELF":
            raise NotElf("it is no ELF file" if head else "it is empty")
        if len(head) < 52 or head[5] != 1 or head[4] not in (1, 2):
            raise NotElf("it is no little-endian ELF file")
        self.bits = 64 if head[4] == 2 else 32
        self.kind, machine = struct.unpack_from("<HH", head, 16)
        self.machine = EM_NAMES.get(machine, "machine %d" % machine)
        if self.bits == 64:
            offset, size, count = struct.unpack_from("<32xQ14xHH", head)[:3]
        else:
            offset, size, count = struct.unpack_from("<28xI10xHH", head)[:3]
        self._segments = [self._segment(os.pread(self._fd, size, offset + size * at)) for at in range(count)]
        self.interpreter = next(
            (self._at(one[1], one[3]).rstrip(b"\0").decode() for one in self._segments if one[0] == PT_INTERP), None
        )
        self._dynamic()

    def _segment(self, data):
        """(type, file offset, address, size in the file)"""
        if self.bits == 64:
            kind, _flags, offset, address, _physical, size = struct.unpack_from("<IIQQQQ", data)
        else:
            kind, offset, address, _physical, size = struct.unpack_from("<IIIII", data)
        return kind, offset, address, size

    def _at(self, offset, size):
        if size > MOST_BYTES:
            raise NotElf("its headers are damaged (a table of %d bytes)" % size)
        return os.pread(self._fd, size, offset)

    def _address(self, address):
        """The file offset of an address."""
        for kind, offset, start, size in self._segments:
            if kind == PT_LOAD and start <= address < start + size:
                return offset + address - start
        raise NotElf("its headers are damaged (nothing is at address %#x)" % address)

    def _dynamic(self):
        self.needed, self.needs, self.versions = [], {}, set()
        self.soname, self.rpath, self.runpath, self.nodeflib, self._tables = None, "", "", False, {}
        found = next((one for one in self._segments if one[0] == PT_DYNAMIC), None)
        if found is None:
            return
        form = "<qQ" if self.bits == 64 else "<iI"
        data = self._at(found[1], found[3])
        entries = []
        for tag, value in struct.iter_unpack(form, data[: len(data) - len(data) % struct.calcsize(form)]):
            if tag == 0:
                break
            entries.append((tag, value))
        tables = self._tables = {tag & 0xFFFFFFFF: value for tag, value in entries}
        if STRTAB not in tables:
            return
        self._strings = self._at(self._address(tables[STRTAB]), tables.get(STRSZ, 0))
        self.needed = [self._text(value) for tag, value in entries if tag == NEEDED]
        self.soname = self._text(tables[SONAME]) if SONAME in tables else None
        self.runpath = self._text(tables[RUNPATH]) if RUNPATH in tables else ""
        self.rpath = self._text(tables[RPATH]) if RPATH in tables and RUNPATH not in tables else ""
        self.nodeflib = bool(tables.get(FLAGS_1, 0) & NODEFLIB)
        self._version_needs(tables)
        self._version_definitions(tables)
        # The strings of a large library are megabytes, and only its symbols want them again.
        self._strings = None

    def _text(self, at):
        return self._strings[at : self._strings.index(b"\0", at)].decode("utf-8", "surrogateescape")

    def _version_needs(self, tables):
        at = self._address(tables[VERNEED]) if VERNEED in tables else 0
        for _ in range(min(tables.get(VERNEEDNUM, 0), MOST_VERSIONS)):
            _version, count, file, aux, following = struct.unpack("<HHIII", os.pread(self._fd, 16, at))
            wanted, one = self.needs.setdefault(self._text(file), []), at + aux
            for _ in range(count):
                _hash, flags, _other, name, after = struct.unpack("<IHHII", os.pread(self._fd, 16, one))
                wanted.append((self._text(name), bool(flags & WEAK_VERSION)))
                if not after:
                    break
                one += after
            if not following:
                break
            at += following

    def _version_definitions(self, tables):
        at = self._address(tables[VERDEF]) if VERDEF in tables else 0
        for _ in range(min(tables.get(VERDEFNUM, 0), MOST_VERSIONS)):
            _version, _flags, _index, _count, _hash, aux, following = struct.unpack(
                "<HHHHIII", os.pread(self._fd, 20, at)
            )
            self.versions.add(self._text(struct.unpack("<I", os.pread(self._fd, 4, at + aux))[0]))
            if not following:
                break
            at += following

    def symbols(self):
        """(defined, undefined) names as sets of bytes: what others can bind to, and what must be found elsewhere (weak ones need not)."""
        if SYMTAB not in self._tables or STRTAB not in self._tables:
            return set(), set()
        with self._reading():
            strings = self._at(self._address(self._tables[STRTAB]), self._tables.get(STRSZ, 0))
            form, pick = ("<IBBHQQ", (0, 1, 2, 3)) if self.bits == 64 else ("<IIIBBH", (0, 3, 4, 5))
            data = self._at(self._address(self._tables[SYMTAB]), self._symbol_count() * struct.calcsize(form))
        name_at, info_at, other_at, section_at = pick
        defined, undefined, end = set(), set(), strings.find
        for symbol in struct.iter_unpack(form, data[: len(data) - len(data) % struct.calcsize(form)]):
            bind, name = symbol[info_at] >> 4, symbol[name_at]
            if not name:
                continue
            if symbol[section_at]:
                if bind in (GLOBAL, WEAK, UNIQUE) and symbol[other_at] & 3 not in HIDDEN:
                    defined.add(strings[name : end(b"\0", name)])
            elif bind == GLOBAL:
                undefined.add(strings[name : end(b"\0", name)])
        return defined, undefined

    def mentions(self, name):
        """Whether a name (bytes) is among the strings of its symbols: cheaper than all of them, and it may be one that it wants."""
        if STRTAB not in self._tables:
            return False
        with self._reading():
            return b"\0" + name + b"\0" in self._at(self._address(self._tables[STRTAB]), self._tables.get(STRSZ, 0))

    def _symbol_count(self):
        if HASH in self._tables:
            return struct.unpack("<II", os.pread(self._fd, 8, self._address(self._tables[HASH])))[1]
        if GNU_HASH not in self._tables:
            return 0
        # The GNU table has no count: the chain of the last bucket ends with the last symbol.
        at = self._address(self._tables[GNU_HASH])
        buckets, first, bloom = struct.unpack("<III", os.pread(self._fd, 12, at))
        at += 16 + bloom * (self.bits // 8)
        last = max(struct.unpack("<%dI" % buckets, self._at(at, 4 * buckets)), default=0)
        if last < first:
            return first
        at += 4 * buckets + 4 * (last - first)
        while not struct.unpack("<I", os.pread(self._fd, 4, at))[0] & 1:
            last, at = last + 1, at + 4
        return last + 1


def build_id(elf):
    """The id that the linker gave the object (hex), or None. NotElf when its headers are damaged."""
    with elf._reading():
        for kind, offset, _address, size in elf._segments:
            data = os.pread(elf._fd, min(size, 4096), offset) if kind == PT_NOTE else b""
            at = 0
            while at + 12 <= len(data):
                name, content, note = struct.unpack_from("<III", data, at)
                body = at + 12 + (name + 3) // 4 * 4
                if note == NOTE_BUILD_ID and data[at + 12 : at + 15] == b"GNU":
                    return data[body : body + content].hex()
                at = body + (content + 3) // 4 * 4
    return None

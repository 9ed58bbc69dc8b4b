"""What the dynamic loader of this host would search, for the objects of one interpreter: its own words, else what is usual."""

import os
import re
import subprocess

from agent.gates.static import cache
from agent.gates.static.elf import Elf, NotElf

LINE = re.compile(
    r'^(dl_dst_lib|dl_platform|dl_hwcaps_subdirs|dl_hwcaps_subdirs_active|path\.system_dirs\[\w+\])=(?:"(.*)"|(\w+))$'
)
TRIPLES = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu", "i386": "i386-linux-gnu"}


class System:
    """`exact`: the loader itself said where it looks (glibc 2.33 or later can), else it is an assumption.

    dirs: default directories; lib, platform: what $LIB and $PLATFORM stand for; subdirs: names of active glibc-hwcaps folders.
    """

    def __init__(self, interpreter, said=None, cache_path="/etc/ld.so.cache"):
        self.machine, self.bits, self.loader = interpreter.machine, interpreter.bits, interpreter.interpreter
        said = diagnostics(self.loader) if said is None else said
        self.exact = bool(said.get("dirs"))
        triple = TRIPLES.get(self.machine, self.machine + "-linux-gnu")
        lib = "lib64" if self.bits == 64 else "lib"
        usual = ["/lib/" + triple, "/usr/lib/" + triple, "/" + lib, "/usr/" + lib, "/lib", "/usr/lib"]
        self.dirs = said.get("dirs") or list(dict.fromkeys(usual))
        self.lib = said.get("lib") or (lib if not os.path.isdir("/lib/" + triple) else "lib/" + triple)
        self.platform = said.get("platform") or self.machine
        self.subdirs = said.get("subdirs") or []
        self.cache = cache.read(self.machine, self.bits, self.subdirs, cache_path)
        self._elves, self._folders, self._symbols = {}, {}, {}

    def elf(self, path):
        """The object at a path, read once a file. NotElf and OSError as they come."""
        facts = os.stat(path)
        key = (facts.st_dev, facts.st_ino)
        if key not in self._elves:
            try:
                self._elves[key] = Elf(path)
            except NotElf as error:
                self._elves[key] = error
        found = self._elves[key]
        if isinstance(found, NotElf):
            raise found
        return key, found

    def symbols(self, key, elf):
        """(defined, undefined) of an object, read once; empty sets where the table is damaged."""
        if key not in self._symbols:
            try:
                self._symbols[key] = elf.symbols()
            except (NotElf, OSError):
                self._symbols[key] = (set(), set())
        return self._symbols[key]

    def has(self, folder, name):
        """Whether a folder holds an entry of that name. Each folder is listed once."""
        if folder not in self._folders:
            try:
                self._folders[folder] = frozenset(os.listdir(folder))
            except OSError:
                self._folders[folder] = frozenset()
        return name in self._folders[folder]

    def fits(self, elf):
        """Whether the loader would take an object: one of another class or machine is passed over."""
        return elf.machine == self.machine and elf.bits == self.bits


def diagnostics(loader):
    """What `ld.so --list-diagnostics` says: {dirs, lib, platform, subdirs}; empty where it cannot."""
    try:
        if not trusted(loader):
            return {}
        ran = subprocess.run(
            [loader, "--list-diagnostics"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            timeout=5,
            env={},
        )
    except (OSError, TypeError, ValueError, subprocess.TimeoutExpired):
        return {}
    return parse(ran.stdout.decode("utf-8", "replace")) if ran.returncode == 0 else {}


def trusted(path):
    """Whether a file may be loaded by us: as root only what root alone can write."""
    facts = os.stat(path)
    return os.geteuid() != 0 or (facts.st_uid == 0 and not facts.st_mode & 0o022)


def parse(text):
    """The parts of the diagnostics that decide a search."""
    values, dirs = {}, []
    for line in text.splitlines():
        match = LINE.match(line)
        if match and match.group(1).startswith("path."):
            dirs.append(os.path.normpath(match.group(2)))
        elif match:
            values[match.group(1)] = match.group(2) if match.group(2) is not None else match.group(3)
    names = [name for name in values.get("dl_hwcaps_subdirs", "").split(":") if name]
    # One bit for each name, the lowest for the last.
    active = int(values.get("dl_hwcaps_subdirs_active", "0"), 16)
    subdirs = [name for at, name in enumerate(names) if active >> (len(names) - 1 - at) & 1]
    return {"dirs": dirs, "lib": values.get("dl_dst_lib"), "platform": values.get("dl_platform"), "subdirs": subdirs}

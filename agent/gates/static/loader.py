"""Resolves libraries as glibc's dynamic loader does in one process: which file answers to a name, and what is missing.

Weaker than the loader in this: hwcap folders of glibc before 2.33 (`tls/`, `haswell/`) and LD_AUDIT are not followed, symbols are compared by
name only (their versions a library at a time), and what a library opens by itself with dlopen is not known beforehand.
"""

import os
import re

from agent.gates.static.elf import NotElf

TOKEN = re.compile(r"\$(?:\{(ORIGIN|LIB|PLATFORM)\}|(ORIGIN|LIB|PLATFORM)(?![A-Za-z0-9_]))")


class Library:
    """One loaded object. `path` as the loader found it; `how`: what led to it, in words; `by`: the library that wanted it."""

    def __init__(self, key, elf, path, how, by):
        self.key, self.elf, self.path, self.how, self.by = key, elf, path, how, by

    def __repr__(self):
        return "%s (%s)" % (self.path, self.how)


class Opened:
    """What one dlopen did. root: the library, or None; added: newly loaded ones in order; closure: all it can bind to, in search order;

    missing: [(the library that wants it, name, reason or "")]; old: [(the library that wants it, version, the library that lacks it)].
    """

    def __init__(self):
        self.root, self.added, self.closure, self.missing, self.old = None, [], [], [], []

    @property
    def failed(self):
        """Whether the loader would refuse, symbols aside."""
        return bool(self.missing or self.old)


class Process:
    """The state of one process. `environment`: the service's; `cwd`: what an empty or relative search path means."""

    def __init__(self, system, environment, cwd="/"):
        self.system, self.cwd = system, cwd
        path = environment.get("LD_LIBRARY_PATH") or ""
        self.library_path = re.split("[:;]", path) if path else []
        self.preloads = [name for name in re.split("[: ]", environment.get("LD_PRELOAD") or "") if name]
        self.main, self.loaded, self.wide = None, [], []
        self._names, self._keys = {}, {}

    def fork(self):
        """The same state again, to try something in it."""
        other = Process.__new__(Process)
        other.__dict__.update(self.__dict__)
        other.loaded, other.wide = list(self.loaded), list(self.wide)
        other._names, other._keys = dict(self._names), dict(self._keys)
        return other

    def start(self, executable):
        """Loads a program, its libraries and LD_PRELOAD. $ORIGIN of a program is where its links end."""
        opened, path = Opened(), os.path.realpath(executable)
        key, elf = self.system.elf(path)
        self.main = opened.root = self._add(Library(key, elf, path, "the program", None), path)
        opened.added = [self.main]
        # What LD_PRELOAD names and is not there, the loader only complains about.
        first = [self._find(name, self.main, [])[0] for name in self.preloads]
        opened.added += [one for one in dict.fromkeys(first) if one]
        self._complete(opened, opened.added)
        self.wide = list(opened.closure)
        return opened

    def dlopen(self, name, caller=None, wide=False):
        """Loads a file (a path) or a soname, wanted by `caller` (default: the program). wide: as RTLD_GLOBAL.

        Where that fails the real loader gives all of it up: fork first where that matters.
        """
        opened = Opened()
        root, reason = self._find(name, caller or self.main, opened.added)
        if root is None:
            opened.missing.append((caller or self.main, name, reason))
            return opened
        opened.root = root
        self._complete(opened, [root])
        if wide:
            self.wide += [one for one in opened.closure if one not in self.wide]
        return opened

    def named(self, name):
        """The loaded library that answers to a name, or None."""
        return self._names.get(name)

    def named_like(self, part):
        """Whether a loaded file has this in its path, as programs look into their own maps."""
        return any(part in one.path for one in self.loaded)

    def _complete(self, opened, first):
        """Breadth first, as the loader does it: the order decides who is found by whose paths."""
        closure = list(first)
        for library in closure:
            for name in library.elf.needed:
                found, reason = self._find(name, library, opened.added)
                if found is None:
                    opened.missing.append((library, name, reason))
                elif found not in closure:
                    closure.append(found)
        opened.closure = closure
        for library in opened.added:
            for name, versions in library.elf.needs.items():
                other = self._names.get(name)
                # A library without any versions is taken as it is.
                have = other.elf.versions if other else ()
                opened.old += [
                    (library, version, other) for version, weak in versions if have and not weak and version not in have
                ]

    def _find(self, name, by, added):
        """(library, "") for a name that `by` wants, or (None, reason)."""
        if name in self._names:
            return self._names[name], ""
        reason = ""
        for path, how in self._places(name, by):
            try:
                key, elf = self.system.elf(path)
            except NotElf as error:
                return None, "%s: %s" % (path, error)
            except OSError as error:
                reason = "%s: %s" % (path, error.strerror)
                continue
            if not self.system.fits(elf):
                reason = "%s is for %s, %d bit" % (path, elf.machine, elf.bits)
                continue
            if key in self._keys:
                library = self._keys[key]
                self._names.setdefault(name, library)
                return library, ""
            library = self._add(Library(key, elf, path, how, by), name)
            added.append(library)
            return library, ""
        return None, reason

    def _add(self, library, name):
        self.loaded.append(library)
        self._keys[library.key] = library
        for one in (name, library.path, library.elf.soname):
            if one:
                self._names.setdefault(one, library)
        return library

    def _places(self, name, by):
        """(path, how) of each file that the loader would try, in its order."""
        if "/" in name:
            path = self._expand(name, by)
            yield os.path.join(self.cwd, path), "by its path"
            return
        for folders, how in self._searches(by):
            for folder in folders:
                for below in [
                    "glibc-hwcaps/" + one for one in self.system.subdirs if self.system.has(folder, "glibc-hwcaps")
                ] + [""]:
                    place = os.path.join(folder, below) if below else folder
                    if self.system.has(place, name):
                        yield os.path.join(place, name), how
        cached = [] if by.elf.nodeflib else self.system.cache.paths.get(name, [])
        yield from ((path, "the loader's cache") for path in cached if os.path.exists(path))
        if not by.elf.nodeflib:
            yield from (
                (folder + "/" + name, "a default directory")
                for folder in self.system.dirs
                if self.system.has(folder, name)
            )

    def _searches(self, by):
        """RPATH of the library and of those that led to it, unless it has a RUNPATH; LD_LIBRARY_PATH; its RUNPATH."""
        if not by.elf.runpath:
            chain, seen = by, set()
            while chain is not None:
                seen.add(chain.key)
                if chain.elf.rpath:
                    yield self._folders(chain.elf.rpath, chain), "RPATH of " + os.path.basename(chain.path)
                chain = chain.by
            if self.main.key not in seen and self.main.elf.rpath:
                yield self._folders(self.main.elf.rpath, self.main), "RPATH of the program"
        if self.library_path:
            folders = [self._expand(part, self.main) for part in self.library_path]
            yield [os.path.join(self.cwd, part) for part in folders], "LD_LIBRARY_PATH"
        if by.elf.runpath:
            yield self._folders(by.elf.runpath, by), "RUNPATH of " + os.path.basename(by.path)

    def _folders(self, paths, library):
        expanded = [self._expand(part, library) for part in paths.split(":")]
        return [os.path.join(self.cwd, part) for part in expanded]

    def _expand(self, text, library):
        values = {"ORIGIN": os.path.dirname(library.path), "LIB": self.system.lib, "PLATFORM": self.system.platform}
        return TOKEN.sub(lambda match: values[match.group(1) or match.group(2)], text)

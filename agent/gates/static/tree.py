"""One venv as its processes see it: what each of its libraries would load, once the interpreter and torch are there."""

import os
import re

from agent.gates.static import families, preload
from agent.gates.static.elf import Elf, NotElf
from agent.gates.static.loader import Process
from agent.gates.static.owners import torch
from agent.gates.static.system import System

TAGGED = re.compile(r"\.(?:cpython-(\d)(\d+)(\w*)-[\w-]+|(abi3))\.so$")


class Tree:
    """A release, or the base it was made from. libraries: paths below `prefix`; NotElf or OSError when its interpreter cannot be read."""

    def __init__(self, prefix, site, python, environment, cwd, libraries, cuda, system=None):
        self.prefix, self.site, self.libraries, self.cuda = prefix, site, libraries, cuda
        self.environment, self.cwd, self.python = environment, cwd, python
        self.system = system or System(Elf(os.path.realpath(python)))
        self.process = Process(self.system, environment, cwd)
        self.steps = [self.process.start(python)]
        self.own_python = preload.python_core(self.process)
        self.steps += preload.import_torch(self.process, site, cuda)
        self._kernels, self._opened, self._named, self._modules, self._host = None, {}, None, {}, None

    def path(self, relative):
        return os.path.join(self.prefix, relative)

    def below(self, path):
        """A path as it is below the release, or None when it lies elsewhere. Links are not followed: a release has its own files."""
        path = os.path.normpath(path)
        return path[len(self.prefix) + 1 :] if path.startswith(self.prefix + os.sep) else None

    def shown(self, path):
        """A path for people: below site-packages where it is there."""
        path = os.path.normpath(path)
        return path[len(self.site) + 1 :] if path.startswith(self.site + os.sep) else self.below(path) or path

    def opened(self, relative):
        """(Process, Opened) of one library opened by the interpreter, after torch; None for what is no library of this machine."""
        if relative not in self._opened:
            self._opened[relative] = self._open(relative)
        return self._opened[relative]

    def _open(self, relative):
        path = self.path(relative)
        try:
            _key, elf = self.system.elf(path)
        except (NotElf, OSError):
            return None
        if not self.system.fits(elf):
            return None
        process = self._state(relative).fork()
        return process, process.dlopen(path, preload.python_core(process))

    def _state(self, relative):
        if "/sgl_kernel/" not in "/" + relative:
            return self.process
        if self._kernels is None:
            self._kernels = self.process.fork()
            preload.import_kernels(self._kernels, self.environment, self.cuda)
        return self._kernels

    def elf(self, relative):
        """The object at a path of this tree, or None."""
        try:
            return self.system.elf(self.path(relative))[1]
        except (NotElf, OSError):
            return None

    def damage(self, relative):
        """Why a file that is there is no library, or None."""
        try:
            self.system.elf(self.path(relative))
        except NotElf as error:
            return str(error)
        except OSError:
            return None

    def is_root(self, relative):
        """Whether the service can be expected to load a file: an extension module of this interpreter, or a library of torch's kernels.

        Others (`libplugin.so`, `libfoo.so.2`) are loaded when something asks for them by name, or never.
        """
        elf = self.elf(relative)
        if elf is None or not self.system.fits(elf) or not self.importable(relative):
            return False
        return self.is_module(relative) or any(one.startswith(("libtorch", "libc10")) for one in elf.needed)

    def is_module(self, relative):
        """Whether Python can import a file by its name: everything that ends in `.so`, and of `lib….so` what is made for it."""
        if relative not in self._modules:
            self._modules[relative] = self._module(relative, os.path.basename(relative))
        return self._modules[relative]

    def _module(self, relative, name):
        elf = self.elf(relative) if name.endswith(".so") and self.importable(relative) else None
        if elf is None:
            return False
        return not name.startswith("lib") or elf.mentions(
            b"PyInit_" + name.split(".")[0].encode("utf-8", "surrogateescape")
        )

    def tagged(self, relative):
        """Whether a file's name says that it is an extension module of this interpreter."""
        return bool(TAGGED.search(relative)) and self.importable(relative)

    def importable(self, relative):
        """Whether a file's tag is that of this interpreter; files without a tag are."""
        match = TAGGED.search(relative)
        if not match or match.group(4):
            return True
        return "python%s.%s%s" % match.group(1, 2, 3) == os.path.basename(os.path.dirname(self.site))

    def files_named(self, name):
        """The libraries of this tree that have a file name."""
        if self._named is None:
            self._named = {}
            for relative in self.libraries:
                self._named.setdefault(os.path.basename(relative), []).append(relative)
        return self._named.get(name, [])

    def on_host(self, name):
        """A file of that name in the usual places of a CUDA toolkit, or None."""
        if self._host is None:
            self._host = families.host_libraries()
        return self._host.get(name)


def tree_of(prefix, site, python, candidate, libraries, system=None):
    """The Tree of a release, or of its base: then the paths in the environment that lead into the release are taken as the base's."""
    environment = {
        name: value.replace(candidate["release"] + "/", prefix + "/") for name, value in candidate["env"].items()
    }
    return Tree(prefix, site, python, environment, candidate["cwd"], libraries, torch(site)[1], system)

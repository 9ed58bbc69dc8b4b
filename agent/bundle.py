"""The agent's own sources. They come with the first bytes of stdin and are imported from memory: no file of them is left on the host."""

import importlib
import importlib.machinery
import json
import os
import sys
import threading
import zlib

# Seconds that the caller gets for the rest of the sources.
PATIENCE = 60


class Bundle:
    """Modules as {name: source}. What a look needs is there from the start; the rest is asked for when the first of it is imported.

    Finder and loader by shape, not by the base classes of importlib.abc: importing these takes longer than a look.
    Tracebacks show the lines, because linecache asks the loader for them.
    """

    def __init__(self, given):
        self._sources = given
        self._whole = threading.Event()
        self._asked = threading.Lock()
        self.ask = None

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] != "agent":
            return None
        if not self._has(name):
            self.complete()
        if not self._has(name):
            return None
        return importlib.machinery.ModuleSpec(name, self, origin=_file(name), is_package=self.is_package(name))

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__name__
        exec(compile(self.get_source(name), _file(name), "exec", dont_inherit=True), module.__dict__)

    def is_package(self, fullname):
        return any(name.startswith(fullname + ".") for name in list(self._sources))

    def get_source(self, fullname):
        return self._sources.get(fullname, "")

    def complete(self):
        """Waits until all sources are there. Call it from any thread but the one that reads the caller's frames."""
        with self._asked:
            if not self._whole.is_set() and self.ask is not None:
                self.ask()
                self._whole.wait(PATIENCE)
        return self._sources

    def add(self, data):
        """Takes the rest, as it travels: zlib-compressed JSON."""
        self._sources.update(json.loads(zlib.decompress(data).decode("utf-8")))
        self._whole.set()

    def _has(self, name):
        return name in self._sources or self.is_package(name)


def start(given, marker, stdin):
    """Makes the modules of `given` importable and serves. The bootstrap calls this, before anything is imported."""
    bundle = Bundle(given)
    sys.meta_path.insert(0, bundle)
    importlib.import_module("agent").__bundle__ = bundle
    importlib.import_module("agent.main").main(marker, stdin, bundle)


def sources():
    """Every module of the agent as {name: source}: what the caller has, else the files beside this one."""
    package = sys.modules["agent"]
    bundle = getattr(package, "__bundle__", None)
    if bundle is not None:
        return dict(bundle.complete())
    found = {}
    _read(os.path.dirname(os.path.abspath(package.__file__)), "agent", found)
    return found


def source(name):
    """The source text of one module, e.g. `agent.service.launcher`."""
    return sources()[name]


def _file(name):
    # Not `<name>`: linecache would not ask for the lines of that.
    return "sglang-agent:" + name


def _read(folder, package, into):
    for entry in sorted(os.scandir(folder), key=lambda item: item.name):
        if entry.is_dir() and entry.name != "__pycache__":
            _read(entry.path, package + "." + entry.name, into)
        elif entry.name.endswith(".py"):
            stem = entry.name[: -len(".py")]
            with open(entry.path, encoding="utf-8") as stream:
                into[package if stem == "__init__" else package + "." + stem] = stream.read()

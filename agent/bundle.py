"""The agent's own sources. They come with the first bytes of stdin and are imported from memory: no file of them is left on the host."""
import importlib
import importlib.abc
import importlib.util
import os
import sys


class BundleFinder(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finds modules in {name: source}. Tracebacks show the lines, because linecache asks the loader for them."""

    def __init__(self, given):
        self._sources = given

    def find_spec(self, name, path=None, target=None):
        if name in self._sources or self.is_package(name):
            return importlib.util.spec_from_loader(name, self, origin=_file(name), is_package=self.is_package(name))
        return None

    def is_package(self, fullname):
        return any(name.startswith(fullname + ".") for name in self._sources)

    def get_source(self, fullname):
        return self._sources.get(fullname, "")

    def get_code(self, fullname):
        return compile(self.get_source(fullname), _file(fullname), "exec", dont_inherit=True)


def _file(name):
    # Not `<name>`: linecache would not ask for the lines of that.
    return "sglang-agent:" + name


def start(given, marker, stdin):
    """Makes the modules of `given` importable and serves. The bootstrap calls this, before anything is imported."""
    sys.meta_path.insert(0, BundleFinder(given))
    importlib.import_module("agent").__bundle__ = given
    importlib.import_module("agent.main").main(marker, stdin)


def sources():
    """Every module of the agent as {name: source}: what the bootstrap was sent, else the files beside this one."""
    package = sys.modules["agent"]
    found = getattr(package, "__bundle__", None)
    if found is None:
        found = {}
        _read(os.path.dirname(os.path.abspath(package.__file__)), "agent", found)
    return dict(found)


def source(name):
    """The source text of one module, e.g. `agent.service.launcher`."""
    return sources()[name]


def _read(folder, package, into):
    for entry in sorted(os.scandir(folder), key=lambda item: item.name):
        if entry.is_dir() and entry.name != "__pycache__":
            _read(entry.path, package + "." + entry.name, into)
        elif entry.name.endswith(".py"):
            stem = entry.name[: -len(".py")]
            with open(entry.path, encoding="utf-8") as stream:
                into[package if stem == "__init__" else package + "." + stem] = stream.read()

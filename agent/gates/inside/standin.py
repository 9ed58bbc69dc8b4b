"""Stand-ins for modules that are missing: with them an import goes on, and so names the next missing one too.

Only names that an import has failed for get one. A finder that answered for every unknown name would also answer for
the optional ones, and send libraries down branches that they never take.
"""

import importlib.abc
import importlib.machinery
import sys
import types


class _Meta(type):
    """The type of every attribute of a stand-in: it can be called, subclassed, subscripted, compared, used as decorator."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return attribute(name)

    def __call__(cls, *args, **kwargs):
        # `@missing.decorator` must hand back what it decorates, else the module under it loses its own names.
        if len(args) == 1 and not kwargs and isinstance(args[0], (type, types.FunctionType)):
            return args[0]
        return cls

    def __getitem__(cls, item):
        return cls

    def __iter__(cls):
        return iter(())

    def __bool__(cls):
        return False

    def __or__(cls, other):
        return cls

    __ror__ = __or__

    def __mro_entries__(cls, bases):
        return (object,)

    def __lt__(cls, other):
        return False

    __gt__ = __le__ = __ge__ = __lt__


def attribute(name):
    """What a stand-in module answers for one attribute."""
    return _Meta(name, (), {"__module__": "stand-in"})


class StandIn(types.ModuleType):
    def __init__(self, name):
        super().__init__(name)
        self.__path__ = []
        self.__version__ = "0"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return attribute(name)


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The last finder of `sys.meta_path`: answers for the names that were added, and for what lies below them."""

    def __init__(self):
        self.names = set()

    def add(self, name):
        if self not in sys.meta_path:
            sys.meta_path.append(self)
        self.names.add(name)

    def forget(self):
        """Takes itself out again, with the modules that it made."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        for name in [name for name, module in list(sys.modules.items()) if isinstance(module, StandIn)]:
            del sys.modules[name]

    def find_spec(self, name, path=None, target=None):
        if any(name == known or name.startswith(known + ".") for known in self.names):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return StandIn(spec.name)

    def exec_module(self, module):
        pass

"""Stands in for sglang-kernel, whose wheels hold CUDA code only, so that SGLang serves on a CPU.

SGLang imports many kernels by name and calls hardly any of them on a CPU without AMX, where plain torch does the work.
So every name and every submodule can be imported here, one function is real, and any other says what it is when called.
"""

import importlib.abc
import importlib.machinery
import sys
import types

__version__ = "0.4.10+cpu"
__path__ = []


def assign_req_to_token_pool_cpu(req_pool_indices, req_to_token, start, end, out_cache_loc, pool_len):
    """Writes the new cache places of each request into its row of the pool."""
    place = 0
    for index, row in enumerate(req_pool_indices.tolist()):
        first, last = int(start[index]), int(end[index])
        values = out_cache_loc[place : place + last - first]
        req_to_token[row, first:last] = values.to(req_to_token.dtype)
        place += last - first


class Absent:
    """A kernel that is not here. Its attributes can be read (`scalar_types.uint4b8`); only a call fails."""

    def __init__(self, name):
        self.__name__ = name

    def __getattr__(self, name):
        return absent(self.__name__, name)

    def __call__(self, *_args, **_kwargs):
        raise NotImplementedError(
            "%s needs a GPU: on this host a stand-in takes the place of sglang-kernel" % self.__name__
        )


def absent(owner, name):
    # Python itself asks modules and objects for optional special names; those are truly not there.
    if name.startswith("__"):
        raise AttributeError(name)
    return Absent("%s.%s" % (owner, name))


def __getattr__(name):
    return absent(__name__, name)


class Submodule(types.ModuleType):
    def __getattr__(self, name):
        return absent(self.__name__, name)


class Submodules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds any `sgl_kernel.x.y`."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname.startswith(__name__ + "."):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec):
        module = Submodule(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, Submodules())

"""Stand-in for SGLang: the names, command line, routes, log and processes of the real one, without a model."""

from sglang.version import __version__

__all__ = ["__version__"]

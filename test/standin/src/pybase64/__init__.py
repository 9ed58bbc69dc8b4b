"""Stand-in for pybase64, on the standard library's base64."""

from base64 import b64decode, b64encode

__version__ = "1.4.2+standin"
__all__ = ["b64decode", "b64encode"]

"""Links in site-packages that lead out of their venv: into a checkout (flit), a cache (uv's link mode `symlink`), another place by hand.

What they lead to is a part of the venv: it counts in its fingerprint, and a copy has it itself. A link left as it is would let
others change a running release, and let us change what is theirs.
"""

import os

from agent.venv import editable, interpreter


class Outward:
    """The links of the venv `prefix`. What the system's Python keeps stays a link: its libraries find each other by their places."""

    def __init__(self, prefix):
        self._site = interpreter.site_packages(prefix)
        self._inside = os.path.realpath(prefix)
        self._system = [os.path.realpath(place) for place in editable.system_places(prefix)]

    def leads(self, path):
        """Where the link at `path` leads, if that is out of the venv and there; else None."""
        if not path.startswith(self._site + os.sep):
            return None
        real = os.path.realpath(path)
        known = any(is_inside(real, place) for place in [self._inside] + self._system)
        return None if known or not os.path.exists(real) else real


def is_inside(real, top):
    """Whether a real path lies below the real path `top`, or is that."""
    return (real + os.sep).startswith(top + os.sep)

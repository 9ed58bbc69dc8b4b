"""Where things are below the root of one host. The only place that knows the names of our files."""

import os

FORMAT = 1


class Layout:
    """The paths below `root`. Pure: it looks at nothing and makes nothing."""

    def __init__(self, root):
        self.root = os.path.normpath(root)

    def at(self, *parts):
        return os.path.join(self.root, *parts)

    @property
    def lock(self):
        return self.at("lock")

    @property
    def format(self):
        return self.at("format.json")

    @property
    def claims(self):
        return self.at("claims.json")

    def content(self, sha256):
        """One file of the content store, by the sha256 of its bytes (hex)."""
        return self.at("store", sha256[:2], sha256)

    def tree(self, digest):
        """One staged overlay, complete or not there; see agent/overlay/trees.py."""
        return self.at("trees", digest)

    def venv(self, name, *parts):
        return self.at("venvs", name, *parts)

    def base(self, name, key):
        return self.venv(name, "base-" + key)

    def release(self, name, release):
        return self.venv(name, "releases", release)

    def service(self, name, *parts):
        return self.at("services", name, *parts)

"""Where a module came from, in words: the release, the standard library, the working directory, the user site…"""

import importlib.util
import os
import site
import sys
import sysconfig


def real(path):
    """The directory of `path` resolved, its own name kept: a package whose files are links into a cache lies where its directory lies."""
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def below(path, top):
    return path == top or path.startswith(top.rstrip(os.sep) + os.sep)


def entry(module):
    """The directory on `sys.path` that a top-level module was found in, or None for one without a file."""
    file = getattr(module, "__file__", None)
    if file is None:
        return None
    folder = os.path.dirname(file)
    return os.path.dirname(folder) if hasattr(module, "__path__") else folder


def home(name, site):
    """The folder that holds the top-level package of that name as this interpreter finds it: site-packages, or a source tree; `site` when it finds none."""
    module = sys.modules.get(name)
    try:
        folders = list(module.__path__ if module else importlib.util.find_spec(name).submodule_search_locations)
    except (AttributeError, TypeError, ValueError, ImportError):  # none, no package, or a stand-in
        return site
    return os.path.dirname(folders[0]) if folders else site


class Places:
    """The places of this interpreter. `release` is the real path of the release, `cwd` None when it is not on sys.path."""

    def __init__(self, release, cwd, pythonpath):
        self.release = os.path.realpath(release)
        self.cwd = cwd and os.path.realpath(cwd)
        self.pythonpath = [os.path.realpath(part) for part in pythonpath if part]
        paths = sysconfig.get_paths()
        self.stdlib = [os.path.realpath(paths[key]) for key in ("stdlib", "platstdlib")]
        self.user = self._user()

    @staticmethod
    def _user():
        try:
            return os.path.realpath(site.getusersitepackages())
        except Exception:  # a user without a home has no user site
            return None

    def name(self, folder):
        """("release" | "stdlib" | "user-site" | "PYTHONPATH" | "cwd" | "system-site" | "elsewhere", a phrase) for a directory of sys.path."""
        folder = os.path.realpath(folder)
        if below(folder, self.release):
            return "release", "the release"
        if self.user and below(folder, self.user):
            return "user-site", "the user site %s (set PYTHONNOUSERSITE=1)" % self.user
        if folder in self.pythonpath:
            return "PYTHONPATH", "PYTHONPATH (%s)" % folder
        if folder == self.cwd:
            return "cwd", "the working directory %s" % folder
        if "site-packages" in folder or "dist-packages" in folder:
            return "system-site", "another environment, %s" % folder
        if any(below(folder, top) for top in self.stdlib):
            return "stdlib", "the standard library"
        return "elsewhere", folder

    def stdlib_has(self, name):
        """Whether the standard library has a module of this name."""
        return name in sys.builtin_module_names or any(
            os.path.exists(os.path.join(top, name + ".py")) or os.path.exists(os.path.join(top, name, "__init__.py"))
            for top in self.stdlib
        )

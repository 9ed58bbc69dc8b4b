"""uv on the host, or what stands in for it: who installs distributions into a venv, and how they are told to."""

import os
import shutil
import stat
import subprocess
import sys

from agent.fault import Fault
from agent.files import remove_file, sha256_file
from agent.output import output
from agent.store import require
from agent.tidy import remove_tree
from agent.venv import commands, interpreter
from agent.venv import indexes as package_indexes
from agent.venv.copying import copy_file

USUAL = ("~/.local/bin/uv", "~/.cargo/bin/uv")


class Installer:
    """Makes venvs and installs into them. uv: path of uv, or None where Python's own venv and pip do it (slower, no Python from afar)."""

    def __init__(self, request, uv):
        self.request = request
        self.uv = uv
        self.layout = request.layout

    def make_venv(self, python, prefix):
        """A new, relocatable venv for `python` (`3.12`, or a path)."""
        if self.uv:
            self._run(
                [self.uv, "venv", "--quiet", "--relocatable", "--no-project", "--python", python, prefix],
                "making a venv for Python %s" % python,
            )
            return
        path = _find_python(python)
        self._run([path, "-m", "venv", "--without-pip", prefix], "making a venv with %s" % path)

    def install(self, prefix, wanted, indexes, no_deps):
        """Installs into a venv: `wanted` are arguments (`-r`, file or requirements), `indexes` as in a Base."""
        if self.uv:
            argv = [
                self.uv,
                "pip",
                "install",
                "--python",
                interpreter.python(prefix),
                "--link-mode",
                self._link_mode(),
                "--no-progress",
            ]
        else:
            argv = [
                _pip(self.request),
                "--python",
                interpreter.python(prefix),
                "install",
                "--no-input",
                "--disable-pip-version-check",
                "--progress-bar=off",
            ]
        self._run(
            argv + package_indexes.arguments(indexes, bool(self.uv)) + (["--no-deps"] if no_deps else []) + wanted,
            "installing",
            package_indexes.environment(indexes),
        )

    def done(self):
        """Removes what was only needed while installing."""
        remove_tree(self.layout.at("cache"))

    def _run(self, argv, what, more=None):
        commands.run(
            self.request,
            argv,
            what,
            remedy=(
                "the index must be reachable from this host: give `indexUrl` or `findLinks`, or a Python path instead of a version"
            ),
            env=dict(self._environment(), **(more or {})),
        )

    def _environment(self):
        # A Python that uv fetches is ours and goes with the root.
        environment = {"UV_PYTHON_INSTALL_DIR": self.layout.at("python")}
        if not self._has_cache():
            environment["UV_CACHE_DIR"] = self.layout.at("cache")
            environment["PIP_NO_CACHE_DIR"] = "1"
        return environment

    def _has_cache(self):
        """Whether the user keeps a uv cache: then it is used, and stays."""
        named = os.environ.get("UV_CACHE_DIR") or os.path.join(
            os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "uv"
        )
        return os.path.isdir(named)

    def _link_mode(self):
        # Other venvs share the files of the user's cache, and uv's `clone` becomes hard links where the file system cannot clone. `copy`
        # clones too where it can. A cache of our own goes afterwards, so there links cost nothing.
        return "copy" if self._has_cache() else "hardlink"


def find(request, sha256=None):
    """An Installer: uv from the store, from PATH or its usual places, else pip. `sha256`: of the uv that was sent along; "ask" =
    Fault `no-uv` where there is none, as the caller may have one."""
    if sha256 and sha256 != "ask":
        sent = _sent(request.layout, sha256)
        return Installer(request, sent if _runs(sent) else None)
    found = shutil.which("uv")
    for path in [found] + [os.path.expanduser(path) for path in USUAL]:
        if path and os.access(path, os.X_OK):
            return Installer(request, path)
    sent = request.layout.at("bin", "uv")
    if os.access(sent, os.X_OK):
        return Installer(request, sent)
    if sha256 == "ask":
        raise Fault(
            "no-uv",
            "this host has no uv",
            where="PATH, %s" % ", ".join(USUAL),
            remedy="install uv there; without it Python's own venv and pip do the work, more slowly",
        )
    return Installer(request, None)


def _runs(uv):
    """Whether a uv that was built elsewhere runs here."""
    try:
        return (
            subprocess.call(
                [uv, "--version"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=60,
            )
            == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


def _sent(layout, sha256):
    target = layout.at("bin", "uv")
    if sha256_file(target) == sha256:
        return target
    require(layout, [sha256], "uv")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    temporary = target + ".new"
    remove_file(temporary)
    copy_file(layout.content(sha256), temporary)
    os.chmod(temporary, stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)
    os.replace(temporary, target)
    return target


def _pip(request):
    """A pip of our own that can install into other venvs; made once in `<root>/tools`."""
    tools = request.layout.at("tools")
    pip = os.path.join(tools, "bin", "pip")
    if not os.access(pip, os.X_OK):
        remedy = "install uv on this host, or give the path of a uv on the control machine as `uv`"
        commands.run(
            request,
            [sys.executable, "-m", "venv", "--clear", tools],
            "making a venv for pip, as there is no uv",
            remedy=remedy,
        )
        version = interpreter.facts(tools)["version"]
        if _pip_version(tools) < (22, 3):
            commands.run(
                request,
                [pip, "install", "--quiet", "--upgrade", "pip>=22.3"],
                "getting a newer pip for Python %s" % version,
                remedy=remedy,
            )
    return pip


def _pip_version(tools):
    said = output([interpreter.python(tools), "-m", "pip", "--version"], 60).split()
    parts = said[1].split(".") if len(said) > 1 else []
    return tuple(int(part) for part in parts[:2] if part.isdigit())


def _find_python(python):
    path = python if os.path.isabs(python) else shutil.which("python" + python)
    if path and os.access(path, os.X_OK):
        return path
    raise Fault(
        "no-python",
        "there is no Python %s on this host, and no uv that could fetch one" % python,
        where="PATH",
        expected="python" + python,
        remedy="install it, or install uv, or give `python` as the path of an interpreter",
    )

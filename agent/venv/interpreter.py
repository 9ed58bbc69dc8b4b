"""What a venv's interpreter is, and where its packages lie."""

import glob
import json
import os
import subprocess

from agent.fault import Fault

# -I -S: neither the environment nor a .pth of the venv runs, so nobody else's code speaks here.
ISOLATED = ["-I", "-S", "-B"]

FACTS = """
import json, os, platform, sys
from importlib.machinery import EXTENSION_SUFFIXES
print(json.dumps({
    "version": platform.python_version(), "base": sys.base_prefix, "suffixes": EXTENSION_SUFFIXES, "libc": platform.libc_ver(),
    "bits": 64 if sys.maxsize > 2**32 else 32, "markers": {
        "implementation_name": sys.implementation.name, "implementation_version": platform.python_version(), "os_name": os.name,
        "platform_machine": platform.machine(), "platform_python_implementation": platform.python_implementation(),
        "platform_release": platform.release(), "platform_system": platform.system(), "platform_version": platform.version(),
        "python_full_version": platform.python_version(), "python_version": ".".join(platform.python_version_tuple()[:2]),
        "sys_platform": sys.platform,
    },
}))
"""


def config(prefix):
    """The entries of pyvenv.cfg, names in lower case; None when `prefix` is no venv."""
    try:
        with open(os.path.join(prefix, "pyvenv.cfg"), encoding="utf-8", errors="surrogateescape") as file:
            lines = [line.partition("=") for line in file]
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    return {name.strip().lower(): value.strip() for name, equals, value in lines if equals}


def is_venv(prefix):
    """Whether `prefix` is a venv that has an interpreter and packages."""
    return config(prefix) is not None and os.path.lexists(python(prefix)) and bool(_sites(prefix))


def require_venv(prefix):
    """Faults unless `prefix` is a venv, and says what is missing."""
    if is_venv(prefix):
        return
    if not os.path.isdir(prefix):
        found = "no such directory"
    elif not os.access(prefix, os.R_OK | os.X_OK):
        found = "a directory that user id %d may not read" % os.geteuid()
    elif config(prefix) is None:
        found = "a directory without pyvenv.cfg" + (
            " (a conda environment)" if os.path.isdir(os.path.join(prefix, "conda-meta")) else ""
        )
    else:
        found = "a venv without %s" % ("lib/python*/site-packages" if os.path.lexists(python(prefix)) else "bin/python")
    raise Fault(
        "not-a-venv",
        "%s is not a Python venv" % prefix,
        where=prefix,
        found=found,
        expected="pyvenv.cfg, bin/python and lib/python*/site-packages",
        remedy="give the directory that `python -m venv` or `uv venv` made",
    )


def python(prefix):
    """Path of a venv's interpreter."""
    return os.path.join(prefix, "bin", "python")


def site_packages(prefix):
    """Absolute path of a venv's site-packages."""
    found = _sites(prefix)
    if len(found) > 1:
        # A venv that was upgraded in place keeps the old version's folder; its interpreter reads only one of them.
        version = config(prefix) or {}
        minor = ".".join((version.get("version_info") or version.get("version") or "").split(".")[:2])
        found = [
            path for path in found if os.path.basename(os.path.dirname(path)).rstrip("t") == "python" + minor
        ] or found
    if not found:
        require_venv(prefix)
    return found[0]


def facts(prefix_or_python):
    """Version, base prefix, libc and marker environment, as the interpreter itself says; Fault `broken-python` when it does not run."""
    path = prefix_or_python
    if os.path.isdir(path):
        path = python(path)
    try:
        ran = subprocess.run(
            [path] + ISOLATED + ["-c", FACTS],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
        )
        found = ran.stderr.decode("utf-8", "replace").strip() or "exit code %d" % ran.returncode
        if ran.returncode == 0:
            return json.loads(ran.stdout.decode("utf-8"))
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        found = str(error)
    raise Fault(
        "broken-python",
        "the interpreter %s does not run" % path,
        where=path,
        found="%s -> %s" % (found, os.path.realpath(path)),
        remedy="the interpreter that the venv was made with must be at the same place on this host",
    )


def _sites(prefix):
    return sorted(glob.glob(os.path.join(glob.escape(prefix), "lib", "python3*", "site-packages")))

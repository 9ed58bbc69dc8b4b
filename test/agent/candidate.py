"""A real venv with tiny packages in it, for the tests of the gates."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap

from agent.fault import Fault
from agent.gates import service
from agent.request import Request

# A server module as SGLang's: it imports its package, declares ServerArgs, and serves only as __main__.
LAUNCH = """
    import argparse
    from tinyserve.server_args import ServerArgs

    if __name__ == "__main__":
        raise SystemExit("served")
"""
SERVER_ARGS = """
    class ServerArgs:
        @staticmethod
        def add_cli_args(parser):
            parser.add_argument("--model-path", "--model", required=True)
            parser.add_argument("--port", type=int, default=30000)
            parser.add_argument("--tp-size", "--tensor-parallel-size", type=int)
            parser.add_argument("--load-format", choices=["auto", "dummy"])
            parser.add_argument("--trust-remote-code", action="store_true")
            parser.add_argument("--old-cache", action="store_true", help="Deprecated. Use --new-cache instead. Gone soon.")
            parser.add_argument("--foo")
            parser.add_argument("--config")
"""

# Registers its operators for one torch only, as torchvision does.
SIBLING = """
import torch
if not torch.__version__.startswith("%s"):
    raise RuntimeError('operator torchvision::nms does not exist')
"""


def version(python):
    """`3.11`"""
    return subprocess.check_output([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]).decode().strip()


def of_everybody():
    """An interpreter that any user may run; None where there is none, or nobody but this user can be tried."""
    for python in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        try:
            subprocess.run([python, "-I", "-c", ""], preexec_fn=lambda: os.setuid(54321), cwd="/", check=True)
            return python
        except (OSError, subprocess.SubprocessError):
            continue
    return None


class Candidate:
    """One venv below a directory of its own. `python`: the interpreter to make it with."""

    def __init__(self, python=sys.executable):
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="gates-"))
        os.chmod(self.top, 0o755)
        self.release = os.path.join(self.top, "release")
        self.site = self.make_directory("release", "lib", "python" + version(python), "site-packages")
        self.cwd = self.make_directory("work")
        self.python = os.path.join(self.make_directory("release", "bin"), "python")
        os.symlink(os.path.realpath(python), self.python)
        self.write(
            "pyvenv.cfg",
            "home = %s\ninclude-system-site-packages = false\n" % os.path.dirname(os.path.realpath(python)),
            below=self.release,
        )
        self.write("tinyserve/__init__.py", "")
        self.write("tinyserve/server_args.py", SERVER_ARGS)
        self.write("tinyserve/launch_server.py", "from tinyserve.launch import *\n" + textwrap.dedent(LAUNCH))
        self.write("tinyserve/launch.py", "")

    def remove(self):
        shutil.rmtree(self.top)

    def make_directory(self, *parts):
        path = os.path.join(self.top, *parts)
        os.makedirs(path, exist_ok=True)
        return path

    def write(self, path, text, below=None):
        """Writes a file of the release's site-packages (or below another directory) and returns its path."""
        file = os.path.join(below or self.site, path)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "w") as stream:
            stream.write(textwrap.dedent(text))
        return file

    def distribution(self, name, version, *requires):
        lines = ["Metadata-Version: 2.1", "Name: " + name, "Version: " + version] + [
            "Requires-Dist: " + wish for wish in requires
        ]
        self.write("%s-%s.dist-info/METADATA" % (name.replace("-", "_"), version), "\n".join(lines) + "\n")

    def patched(self, module, text=None):
        """The `patched` entry of a module, whose file is written when its text is given."""
        path = module.replace(".", "/") + ".py"
        if text is not None:
            self.write(path, text)
        with open(os.path.join(self.site, path), "rb") as file:
            return {"module": module, "path": path, "sha256": hashlib.sha256(file.read()).hexdigest()}

    def wish(self, env=None, args=("--model-path", "/m"), module="tinyserve.launch_server", **more):
        gates = {
            key: more.pop(key)
            for key in ("imports", "patched", "asserts", "flags", "timeout", "acceptLibraries")
            if key in more
        }
        whole = {
            "python": self.python,
            "site": self.site,
            "release": self.release,
            "cwd": self.cwd,
            "user": None,
            "group": None,
            "limits": {},
            "module": module,
            "args": list(args),
            "env": dict({"HOME": self.top, "PATH": "/usr/bin:/bin"}, **(env or {})),
            "gates": dict({"timeout": 60}, **gates),
        }
        return dict(whole, **more)

    def check(self, request=None, **wish):
        return service.check(request or Request({"root": self.top}), self.wish(**wish))

    def fault(self, **wish):
        """The fault that the gates end with; an AssertionError when they pass."""
        try:
            raise AssertionError("the gates passed: %r" % self.check(**wish))
        except Fault as fault:
            return fault

    def problems(self, **wish):
        """["gate: sentence"] of a failing candidate, its own directory written as TOP."""
        told = self.fault(**wish).more["problems"]
        return ["%s: %s" % (problem["gate"], problem["text"].replace(self.top, "TOP")) for problem in told]

"""Tiny C libraries, and a release with its base made of them, for the tests of the static gates."""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

from agent.gates.static import gate
from agent.venv import manifest, tree

GCC = shutil.which("gcc")
NO_GCC = "no gcc here: the libraries of these tests cannot be made"
TAG = "cpython-%d%d-%s-linux-gnu" % (sys.version_info[0], sys.version_info[1], os.uname().machine)
LIB = "lib/python%d.%d/site-packages" % sys.version_info[:2]


def library(path, defines=(), wants=(), needed=(), soname=None, rpath=None, runpath=None, versions=None):
    """Compiles a shared object that defines and calls functions of these names; needed: objects it is linked with.

    versions: text of a linker's version script.
    """
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        source = os.path.join(scratch, "x.c")
        with open(source, "w") as file:
            file.writelines("void %s(void); " % name for name in wants)
            file.writelines("void %s(void) {}\n" % name for name in defines)
            file.write("void _calls_%d(void) { %s }\n" % (abs(hash(path)), " ".join("%s();" % name for name in wants)))
        argv = [GCC, "-w", "-shared", "-fPIC", "-o", path, source, "-Wl,--no-as-needed,--allow-shlib-undefined"]
        argv += ["-Wl,-soname," + soname] if soname else []
        argv += ["-Wl,--disable-new-dtags,-rpath," + rpath] if rpath else []
        argv += ["-Wl,--enable-new-dtags,-rpath," + runpath] if runpath else []
        if versions:
            script = os.path.join(scratch, "x.map")
            with open(script, "w") as file:
                file.write(versions)
            argv.append("-Wl,--version-script=" + script)
        subprocess.check_call(argv + list(needed))
    return path


def named(folder, soname, defines=(), **more):
    """A library whose file has the name of its soname."""
    return library(os.path.join(folder, soname), defines, soname=soname, **more)


def maps(path, environment):
    """{file name: real path} of what a new process has mapped once ctypes opened a library."""
    text = "import ctypes, sys; ctypes.CDLL(sys.argv[1]); sys.stdout.write(open('/proc/self/maps').read())"
    out = subprocess.check_output(
        [sys.executable, "-c", text, path], env=environment, cwd="/", stderr=subprocess.DEVNULL
    ).decode()
    lines = [line.split(None, 5) for line in out.splitlines()]
    paths = {line[5] for line in lines if len(line) == 6 and line[5].startswith("/")}
    return {os.path.basename(found): found for found in paths}


def made_facts(site):
    """What a release's own file has besides its base and what was laid; `site`: path below the release."""
    return {"recipe": {}, "site": site, "packages": {}, "patched": {}, "made": 1}


class Release:
    """A base and a release of it below a directory of its own: what is put into the base is linked into the release by `start`."""

    def __init__(self):
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="static-gates-"))
        self.base = os.path.join(self.top, "venvs", "v", "base-b")
        self.release = os.path.join(self.top, "venvs", "v", "releases", "r")
        self.elsewhere = os.path.join(self.top, "elsewhere")
        self.laid = {}
        self.accept = []
        os.makedirs(os.path.join(self.base, "bin"))
        os.makedirs(self.site(self.base))
        os.symlink(os.path.realpath(sys.executable), os.path.join(self.base, "bin", "python"))
        self.write(self.base, "pyvenv.cfg", "version = %d.%d.%d\n" % sys.version_info[:3], below="")

    def remove(self):
        shutil.rmtree(self.top)

    def site(self, prefix):
        return os.path.join(prefix, LIB)

    def write(self, prefix, path, text, below=LIB):
        """Writes a text file as a new inode: what the base has under that name stays."""
        place = os.path.join(prefix, below, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if os.path.lexists(place):
            os.unlink(place)
        with open(place, "w") as file:
            file.write(text)

    def put(self, prefix, path, defines=(), **more):
        """Compiles a library below site-packages of the base or the release."""
        place = os.path.join(self.site(prefix), path)
        if os.path.lexists(place):
            os.unlink(place)
        return library(place, defines, **more)

    def dist(self, prefix, name, version, files, *requires):
        """Metadata of a distribution that owns these files; in the release it counts as laid."""
        info = "%s-%s.dist-info/" % (name.replace("-", "_"), version)
        for old in glob.glob(os.path.join(self.site(prefix), name.replace("-", "_") + "-*.dist-info")):
            shutil.rmtree(old)
        told = ["Metadata-Version: 2.1", "Name: " + name, "Version: " + version] + [
            "Requires-Dist: " + one for one in requires
        ]
        self.write(prefix, info + "METADATA", "\n".join(told) + "\n")
        self.write(prefix, info + "RECORD", "".join("%s,,\n" % one for one in files))
        if prefix == self.release:
            self.laid[name] = version

    def torch(self, prefix, version="2.11.0+cu130", cuda="13.0", c10=()):
        """A stand-in for torch: its version, libc10, and the module that loads it."""
        self.write(prefix, "torch/__init__.py", "")
        self.write(prefix, "torch/version.py", "__version__ = '%s'\ncuda: Optional[str] = '%s'\n" % (version, cuda))
        c10 = self.put(prefix, "torch/lib/libc10.so", c10, soname="libc10.so")
        self.put(prefix, "torch/lib/libtorch_global_deps.so", soname="libtorch_global_deps.so")
        self.put(prefix, "torch/_C.%s.so" % TAG, needed=[c10], rpath="$ORIGIN/lib")
        files = ["torch/__init__.py", "torch/version.py", "torch/lib/libc10.so", "torch/_C.%s.so" % TAG]
        self.dist(prefix, "torch", version, files)

    def start(self):
        """The release as a clone of the base by hard links; afterwards whatever is put into it is a layer's."""
        subprocess.check_call(["mkdir", "-p", os.path.dirname(self.release)])
        subprocess.check_call(["cp", "-al", self.base, self.release])

    def results(self, **env):
        """{gate: result} of the release as it is now."""
        for prefix in (self.base, self.release):
            manifest.write(manifest.beside(prefix), tree.lines(prefix))
        with open(self.release + ".json", "w") as file:
            json.dump(dict(made_facts(LIB), format=1, base="base-b", laid=self.laid), file)
        candidate = {
            "release": self.release,
            "site": self.site(self.release),
            "python": os.path.join(self.release, "bin", "python"),
            "env": dict({"PATH": "/usr/bin:/bin"}, **env),
            "cwd": "/",
            "gates": {"acceptLibraries": self.accept},
        }
        return {one["gate"]: one for one in gate.check(candidate)}

    def told(self, kind, **env):
        """The sentences of all gates (kind: problems or warnings), the test's own directory written as TOP."""
        found = [(one["gate"], text) for one in self.results(**env).values() for text in one[kind]]
        texts = ["%s: %s" % (name, text["text"] if kind == "problems" else text) for name, text in found]
        return [text.replace(self.top, "TOP") for text in texts]

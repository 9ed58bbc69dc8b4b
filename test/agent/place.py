"""A root in a temporary folder, a real venv beside it, and the requests of one stack."""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import unittest
import venv

from agent.fault import Fault
from agent.layout import Layout
from agent.overlay.wheel import unpack
from agent.request import Request
from agent.staging import overlays, patches
from agent.venv import fingerprint, interpreter, make
from agent.venv.copying import Meter
from test.agent.wheels import wheel


def sha256(data):
    return hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest()


class PlaceTest(unittest.TestCase):
    """self.root, self.layout; self.venv: a real venv that is adopted, made by `python -m venv`."""

    def setUp(self):
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="sglang-venv-"))
        self.addCleanup(shutil.rmtree, self.top, True)
        self.root = os.path.join(self.top, "root")
        self.layout = Layout(self.root)
        self.venv = os.path.join(self.top, "adopted")
        self.said = []
        new_venv(self.venv)
        self.site = interpreter.site_packages(self.venv)

    def request(self, **args):
        return Request(dict(args, root=self.root), progress=lambda one: self.said.append(one["text"]))

    def claim(self, kind):
        return {"kind": kind, "name": "v", "owner": "owner-" + kind, "urn": "urn:" + kind}

    def fault(self, code, *args, **more):
        """What the making of such a release is refused with."""
        with self.assertRaises(Fault) as caught:
            self.make(*args, **more)
        self.assertEqual(caught.exception.code, code, caught.exception.report())
        return caught.exception

    def store(self, data):
        """Puts bytes into the content store; their sha256."""
        data = data if isinstance(data, bytes) else data.encode()
        path = self.layout.content(sha256(data))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        return sha256(data)

    def wheel_overlay(self, name, version, files, **more):
        """An Overlay of kind wheel, its wheel stored."""
        filename, data = wheel(name, version, files, **more)
        return {
            "packages": [name],
            "digest": sha256(data),
            "source": {"kind": "wheel", "sha256": self.store(data), "filename": filename},
        }

    def directory_overlay(self, packages, files, version=None):
        """An Overlay of kind directory, its files stored; without a version it gets one as the provider gives it."""
        listed = [{"path": path, "sha256": self.store(text), "mode": 0o644} for path, text in sorted(files.items())]
        digest = sha256(json.dumps(listed))
        return {
            "packages": packages,
            "digest": digest,
            "source": {"kind": "directory", "files": listed, "version": version or "0+" + digest[:8]},
        }

    def file_patch(self, path, text, pre=None):
        return {"target": {"path": path}, "kind": "file", "sha256": self.store(text), "pre": pre}

    def diff_patch(self, module, diff, pre=None):
        return {"target": {"module": module}, "kind": "diff", "sha256": self.store(diff), "pre": pre}

    def stage(self, wanted_overlays=(), wanted_patches=()):
        """Stages overlays and patches as the provider does; their digests."""
        digests = []
        for kind, name, module, wanted in (
            ("overlay", "overlays", overlays, wanted_overlays),
            ("patch", "patches", patches, wanted_patches),
        ):
            digest = sha256(json.dumps(wanted)) if wanted else ""
            digests.append(digest)
            if wanted:
                module.stage(self.request(claim=self.claim(kind), venv="v", digest=digest, **{name: list(wanted)}))
        return digests

    def make(self, wanted_overlays=(), wanted_patches=(), release=None, base=None, **more):
        """`venv.make` of a release that is named by its recipe, as the provider names it; its result with `path` and `site`."""
        staged = self.stage(wanted_overlays, wanted_patches)
        base = base or {"adopt": self.venv}
        kind = (
            {
                "kind": "adopt",
                "path": base["adopt"],
                "fingerprint": fingerprint.fingerprint(base["adopt"], (self.root,)),
            }
            if "adopt" in base
            else {"kind": "managed", "key": base["key"]}
        )
        recipe = {"version": 1, "base": kind, "overlays": staged[0], "patches": staged[1]}
        release = release or sha256(json.dumps(recipe))[:12]
        result = make.make(
            self.request(
                claim=self.claim("venv"),
                venv="v",
                release=release,
                recipe=more.pop("recipe", recipe),
                base=base,
                overlays=staged[0],
                patches=staged[1],
                **more,
            )
        )
        result["path"] = self.layout.release("v", release)
        result["site"] = interpreter.site_packages(result["path"])
        return result


def new_venv(path):
    # As `python -m venv --without-pip` makes it, without another Python for each test.
    venv.create(path, symlinks=True)


def install(site, name, version, files, **more):
    """Installs a wheel made by hand into a venv's site-packages, and its scripts into bin/ with an absolute shebang, as pip does."""
    filename, data = wheel(name, version, files, **more)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, filename)
        with open(path, "wb") as file:
            file.write(data)
        unpack(path, filename, os.path.join(folder, "tree"), Meter("", 0, None, lambda: None))
        shutil.copytree(os.path.join(folder, "tree", "site"), site, dirs_exist_ok=True)
        prefix = os.path.normpath(os.path.join(site, "..", "..", ".."))
        for script in (
            os.listdir(os.path.join(folder, "tree", "bin"))
            if os.path.isdir(os.path.join(folder, "tree", "bin"))
            else []
        ):
            with open(os.path.join(folder, "tree", "bin", script)) as file:
                text = file.read().split("\n' '''\n", 1)[1]
            write(os.path.join(prefix, "bin", script), "#!%s/bin/python\n%s" % (prefix, text), 0o755)


def write(path, text, mode=None):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    if mode:
        os.chmod(path, mode)


def read(*parts):
    with open(os.path.join(*parts), "rb") as file:
        return file.read().decode()


def python(prefix, code, cwd="/"):
    """What a release's interpreter prints; it may write bytecode, as a server does."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    ran = subprocess.run(
        [os.path.join(prefix, "bin", "python"), "-c", code],
        cwd=cwd,
        env=environment,
        capture_output=True,
    )
    return (ran.stdout + ran.stderr).decode().strip()


def identity(top):
    """All that a stat says of each file and folder below `top`, but for access times."""
    found = {}
    for folder, _folders, files in os.walk(top):
        for path in [folder] + [os.path.join(folder, name) for name in files]:
            facts = os.lstat(path)
            found[os.path.relpath(path, top)] = (
                facts.st_ino,
                facts.st_mode,
                facts.st_nlink,
                facts.st_uid,
                facts.st_size,
                facts.st_mtime_ns,
                facts.st_ctime_ns,
            )
    return found

"""What comes after a layer: ordinary installers find true metadata, other owners of an inode keep their bytes, and taking it away brings the base back."""

import hashlib
import os
import shutil
import subprocess
import sys
import unittest

from agent.venv import interpreter
from test.agent.place import PlaceTest, identity, install, python, read, write
from test.agent.wheels import wheel

LATER = {"p/__init__.py": "v = 9\n", "p/nine.py": ""}


def contents(top):
    """sha256 of each file below `top` by path; bytecode and folders of ours beside it do not count."""
    found = {}
    for folder, _folders, names in os.walk(top):
        for name in [name for name in names if not name.endswith(".pyc")]:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, top)] = (hashlib.sha256(file.read()).hexdigest(), os.stat(path).st_mode)
    return found


class AnOrdinaryInstall(PlaceTest):
    """By pip and by uv, in a copy of a release, of the distribution that a layer brought."""

    def setUp(self):
        super().setUp()
        install(self.site, "p", "1", {"p/__init__.py": "v = 1\n", "p/one.py": ""}, entry_points={"p-run": "p:run"})
        self.wheels = os.path.join(self.top, "wheels")
        filename, data = wheel("p", "9", LATER, entry_points={"p-run": "p:run"})
        write(os.path.join(self.wheels, filename), data)

    def layers(self):
        bare = {"p/__init__.py": "v = 3\n", "p/three.py": ""}
        wheel_overlay = self.wheel_overlay("p", "2", {"p/__init__.py": "v = 2\n", "p/two.py": ""})
        return {
            "a wheel": ([wheel_overlay], []),
            "a directory without metadata": ([self.directory_overlay(["p"], bare)], []),
            "a patch": ([], [self.file_patch("p/__init__.py", "v = 4\n"), self.file_patch("p/four.py", "")]),
            "a patched wheel": ([wheel_overlay], [self.file_patch("p/__init__.py", "v = 5\n")]),
        }

    def replaces_them(self, installer):
        for name, (overlays, patches) in self.layers().items():
            with self.subTest(name):
                made = self.make(overlays, patches)
                before = identity(made["path"])
                clone = os.path.join(self.top, "clone")
                shutil.copytree(made["path"], clone, symlinks=True)
                at = [clone + "/bin/python", "--no-index", "--find-links", self.wheels, "p==9"]
                ran = subprocess.run(installer(at), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual(ran.returncode, 0, ran.stdout.decode())
                site = interpreter.site_packages(clone)
                self.assertEqual(python(clone, "import p; print(p.v)"), "9")
                left = sorted(one for one in os.listdir(site + "/p") if one != "__pycache__")
                self.assertEqual(left, ["__init__.py", "nine.py"])
                infos = [one for one in os.listdir(site) if one.endswith((".dist-info", ".egg-info"))]
                self.assertEqual(infos, ["p-9.dist-info"])
                self.assertTrue(read(clone, "bin", "p-run").startswith("#!" + clone), read(clone, "bin", "p-run"))
                self.assertEqual(identity(made["path"]), before)
                shutil.rmtree(clone)

    @unittest.skipUnless(shutil.which("uv"), "needs uv")
    def test_by_uv(self):
        self.replaces_them(lambda at: ["uv", "pip", "install", "--quiet", "--python"] + at)

    @unittest.skipIf(
        subprocess.run([sys.executable, "-m", "pip", "--version"], stdout=-3, stderr=-3).returncode, "no pip"
    )
    def test_by_pip(self):
        self.replaces_them(lambda at: [sys.executable, "-m", "pip", "--quiet", "--python", at[0], "install"] + at[1:])


class Records(PlaceTest):
    def test_every_row_of_what_was_laid_and_patched_is_true_and_who_installed_it_is_said(self):
        install(self.site, "p", "1", {"p/__init__.py": "", "p/one.py": ""}, entry_points={"p-run": "p:run"})
        overlay = self.wheel_overlay("p", "2", {"p/__init__.py": "v = 2\n"}, entry_points={"p-go": "p:go"})
        bare = self.directory_overlay(["q"], {"q/__init__.py": "q = 1\n"})
        made = self.make([overlay, bare], [self.file_patch("p/__init__.py", "v = 3\n")])
        code = (
            "import importlib.metadata as m, hashlib, base64\n"
            "for name in ('p', 'q'):\n"
            "    for f in m.files(name):\n"
            "        got = base64.urlsafe_b64encode(hashlib.sha256(f.read_binary()).digest()).rstrip(b'=').decode()\n"
            "        same = f.hash is None or (f.hash.value, f.size) == (got, f.locate().stat().st_size)\n"
            "        if not same or (f.hash is None and f.name != 'RECORD'): print('wrong', f)\n"
            "    print(name, m.distribution(name).read_text('INSTALLER').strip())"
        )
        self.assertEqual(python(made["path"], code).splitlines(), ["p pulumi-sglang", "q pulumi-sglang"])


class OtherOwnersOfAnInode(PlaceTest):
    def test_a_cache_and_another_venv_that_share_a_module_keep_its_bytes_and_the_patched_one_its_mode(self):
        install(self.site, "p", "1", {"p.py": "x = 1\n"})
        ours, cache, other = (os.path.join(self.site, "p.py"), self.top + "/cache/p.py", self.top + "/other/p.py")
        os.chmod(ours, 0o755)
        for path in (cache, other):
            os.makedirs(os.path.dirname(path))
            os.link(ours, path)
        before = identity(self.top + "/cache"), identity(self.top + "/other"), identity(self.venv)
        made = self.make((), [self.file_patch("p.py", "x = 2\n")])
        self.assertEqual(read(made["site"], "p.py"), "x = 2\n")
        facts, theirs = os.stat(made["site"] + "/p.py"), os.stat(ours)
        self.assertEqual((facts.st_mode, facts.st_uid, facts.st_gid), (theirs.st_mode, theirs.st_uid, theirs.st_gid))
        self.assertEqual((identity(self.top + "/cache"), identity(self.top + "/other"), identity(self.venv)), before)

    def test_a_patch_of_a_file_of_an_overlay_leaves_the_staged_tree_and_other_releases_alone(self):
        overlay = self.wheel_overlay("p", "2", {"p.py": "x = 2\n"})
        first = self.make([overlay])
        site = self.layout.tree(overlay["digest"]) + "/site"
        staged = contents(site)
        second = self.make([overlay], [self.file_patch("p.py", "x = 3\n")])
        self.assertEqual((read(first["site"], "p.py"), read(second["site"], "p.py")), ("x = 2\n", "x = 3\n"))
        self.assertEqual(contents(site), staged)


class TakenAway(PlaceTest):
    def test_without_its_layers_a_venv_is_the_base_again_to_the_byte(self):
        files = {"p/__init__.py": "v = 1\n", "p/one.py": "", "nvidia/lib/libp.so": b"\x7fELF1"}
        install(self.site, "p", "1", files, entry_points={"p-run": "p:run"})
        write(os.path.join(self.site, "~p", "x.py"), "")
        base = self.make()
        before = contents(base["path"])
        laid = {"p/__init__.py": "v = 2\n", "nvidia/lib/libp.so": b"\x7fELF2"}
        overlay = self.wheel_overlay("p", "2", laid, entry_points={"p-go": "p:go"}, data={"share/p": "x"})
        changed = self.make([overlay], [self.file_patch("p/__init__.py", "v = 3\n")])
        self.assertNotEqual(contents(changed["path"]), before)
        # Not only the release that is still there: also one that is made anew of the same base.
        again = self.make()
        self.assertEqual((again["path"], contents(again["path"])), (base["path"], before))
        shutil.rmtree(base["path"])
        self.assertEqual(contents(self.make()["path"]), before)

    @unittest.skipUnless(sys.maxsize > 2**32 and os.name == "posix", "lib64 is of 64-bit systems")
    def test_lib64_is_the_same_folder_as_lib_in_a_release(self):
        if not os.path.lexists(self.venv + "/lib64"):
            os.symlink("lib", self.venv + "/lib64")
        install(self.site, "p", "1", {"p.py": "v = 1\n"})
        made = self.make([self.wheel_overlay("p", "2", {"p.py": "v = 2\n"})])
        self.assertEqual(os.readlink(made["path"] + "/lib64"), "lib")
        below = os.path.relpath(made["site"], made["path"] + "/lib")
        self.assertEqual(read(made["path"], "lib64", below, "p.py"), "v = 2\n")

    def test_a_lib64_that_leads_into_the_adopted_venv_by_its_full_path_does_not_lead_out_of_a_release(self):
        if os.path.lexists(self.venv + "/lib64"):
            os.unlink(self.venv + "/lib64")
        os.symlink(self.venv + "/lib", self.venv + "/lib64")
        made = self.make()
        self.assertTrue(os.path.samefile(made["path"] + "/lib64", made["path"] + "/lib"))

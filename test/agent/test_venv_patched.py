"""Patches of a release: whose bytes they are, what they reach, and how those that do not fit are told."""

import base64
import hashlib
import os
import subprocess
import time

from test.agent.made import OLD, MadeTest
from test.agent.place import python, read, sha256, write


class Patches(MadeTest):
    def test_a_patch_is_a_new_inode_and_reaches_no_other_release(self):
        first = self.make()
        second = self.make(
            (),
            [
                self.diff_patch(
                    "pkg.mod", "--- a\n+++ b\n@@ -1,5 +1,5 @@\n-x = 1\n+x = 2\n \n \n def f():\n     return x\n"
                )
            ],
        )
        self.assertNotEqual(first["release"], second["release"])
        self.assertEqual(python(first["path"], "import pkg.mod; print(pkg.mod.f())"), "1")
        self.assertEqual(python(second["path"], "import pkg.mod; print(pkg.mod.f())"), "2")
        self.assertFalse(os.path.samefile(first["site"] + "/pkg/mod.py", second["site"] + "/pkg/mod.py"))
        self.assertTrue(os.path.samefile(first["site"] + "/pkg/where.py", second["site"] + "/pkg/where.py"))

    def test_old_bytecode_does_not_answer_for_a_patch_of_the_same_length_and_second(self):
        path = os.path.join(self.site, "pkg", "mod.py")
        ahead = int(time.time()) + 1000
        os.utime(path, (ahead, ahead))
        python(self.venv, "import pkg.mod")
        cache = os.path.join(self.top, "cache")
        environment = (
            "import sys; sys.pycache_prefix = %r; sys.path.insert(0, %%r); import pkg.mod; print(pkg.mod.f())" % cache
        )
        first = self.make()
        self.assertEqual(python(first["path"], environment % first["site"]), "1")
        second = self.make((), [self.file_patch("pkg/mod.py", OLD.replace("1", "2"))])
        self.assertEqual(python(second["path"], "import pkg.mod; print(pkg.mod.f())"), "2")
        self.assertEqual(python(second["path"], environment % second["site"]), "2")
        self.assertEqual(int(os.stat(second["site"] + "/pkg/mod.py").st_mtime), ahead + 1)

    def test_a_legacy_pyc_beside_the_source_goes_with_the_old_text(self):
        write(os.path.join(self.site, "pkg", "mod.pyc"), b"old")
        made = self.make((), [self.file_patch("pkg/mod.py", "x = 2\n")])
        self.assertFalse(os.path.exists(made["site"] + "/pkg/mod.pyc"))

    def test_a_patch_works_though_the_venv_lies_in_a_git_checkout(self):
        subprocess.run(["git", "init", "-q", self.top], check=True)
        patch = [self.diff_patch("pkg.mod", "--- a/pkg/mod.py\n+++ b/pkg/mod.py\n@@ -1,2 +1,2 @@\n-x = 1\n+x = 7\n \n")]
        made = self.make((), patch)
        self.assertEqual(read(made["site"], "pkg/mod.py"), OLD.replace("1", "7"))
        self.assertEqual(self.facts(made["release"])["files"], {"pkg/mod.py": sha256(OLD.replace("1", "7"))})
        self.assertFalse(self.make((), patch)["made"])

    def test_a_patch_that_the_base_has_already_leaves_its_file_byte_for_byte(self):
        patch = self.diff_patch("pkg.mod", "--- a\n+++ b\n@@ -1,3 +1,3 @@\n-x = 0\n+x = 1\n \n \n")
        for _ in range(3):
            made = self.make((), [patch])
            self.assertEqual((read(made["site"], "pkg/mod.py"), made["applied"]), (OLD, ["pkg/mod.py"]))

    def test_metadata_says_what_a_patch_changed(self):
        made = self.make((), [self.file_patch("pkg/mod.py", "x = 2\n"), self.file_patch("pkg/new.py", "y = 1\n")])
        self.assertEqual((made["applied"], made["added"]), ([], ["pkg/new.py"]))
        record = read(made["site"], "pkg-1.0.dist-info", "RECORD").splitlines()
        self.assertEqual(recorded(record, "pkg/mod.py"), recorded_as("x = 2\n"))
        self.assertEqual(recorded(record, "pkg/new.py"), recorded_as("y = 1\n"))
        self.assertEqual(
            recorded(read(self.site, "pkg-1.0.dist-info", "RECORD").splitlines(), "pkg/mod.py"), recorded_as(OLD)
        )

    def test_all_patches_that_fail_are_said_at_once(self):
        fault = self.fault(
            "patch-does-not-apply",
            (),
            [
                self.diff_patch("pkg.mod", "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-x = 3\n+x = 4\n \n"),
                self.file_patch("pkg/mod.py", "x = 2\n", pre="0" * 64),
                self.diff_patch("pkg.modd", "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n"),
            ],
        )
        lines = fault.more["detail"].splitlines()
        self.assertEqual(fault.message, "3 patches cannot be applied")
        self.assertEqual(lines[0], "pkg.mod: hunk 1 does not apply at line 1; found 'x = 1'; expected 'x = 3'")
        self.assertEqual(
            lines[1],
            "pkg/mod.py: the file to be patched is not the one that the patch was made for; found sha256 %s; expected sha256 %s"
            % (sha256(OLD), "0" * 64),
        )
        self.assertEqual(
            lines[2],
            "pkg.modd: there is no file that the diff could change; expected the file that the diff was made from",
        )
        self.assertEqual(self.releases(), [])

    def test_a_patch_of_a_module_that_is_not_there_names_its_neighbours(self):
        fault = self.fault("no-target", (), [self.diff_patch("pgk.mod", "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n")])
        self.assertEqual(fault.message, "patch of pgk.mod: nothing to patch: pgk.mod is not in this venv")
        self.assertEqual(fault.more["found"], "site-packages has no pgk, but pkg")

    def test_syntax_errors_of_all_patches_are_said_by_gate_compile(self):
        fault = self.fault(
            "does-not-compile",
            (),
            [self.file_patch("pkg/mod.py", "def f(:\n"), self.file_patch("pkg/where.py", "x = = 1\n")],
        )
        self.assertEqual(fault.more["gate"], "compile")
        lines = fault.more["detail"].splitlines()
        self.assertEqual(
            [line.split(":")[0].split("site-packages/")[1] for line in lines],
            ["pkg/mod.py, line 1", "pkg/where.py, line 1"],
        )
        self.assertIn("def f(:", lines[0])
        self.assertEqual(self.releases(), [])


def recorded(lines, path):
    return next(line[len(path) + 1 :] for line in lines if line.startswith(path + ","))


def recorded_as(text):
    return "sha256=%s,%d" % (
        base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode(),
        len(text),
    )

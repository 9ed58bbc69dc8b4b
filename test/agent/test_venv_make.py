"""A release from end to end: adopted base, overlays, patches, gates; and what the adopted venv sees of it (nothing)."""

import base64
import hashlib
import os
import subprocess
import threading
import time
import unittest

from agent.fault import Fault
from agent.venv import look, make, space
from agent.venv.fingerprint import fingerprint
from test.agent.place import PlaceTest, identity, install, python, read, sha256, write

OLD = "x = 1\n\n\ndef f():\n    return x\n"


class MadeTest(PlaceTest):
    def setUp(self):
        super().setUp()
        install(
            self.site,
            "pkg",
            "1.0",
            {"pkg/__init__.py": "", "pkg/mod.py": OLD},
            entry_points={"pkg-where": "pkg.where:main"},
        )
        write(os.path.join(self.site, "pkg", "where.py"), "import sys\ndef main():\n    print(sys.prefix)\n")
        python(self.venv, "import pkg.mod")

    def fault(self, code, *args, **more):
        with self.assertRaises(Fault) as caught:
            self.make(*args, **more)
        self.assertEqual(caught.exception.code, code, caught.exception.report())
        return caught.exception

    def releases(self):
        folder = self.layout.venv("v", "releases")
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []

    def facts(self, release):
        return look.venvs(self.layout)[0]["v"]["releases"][release]


class Make(MadeTest):
    def test_a_release_runs_from_its_own_files_and_a_second_make_does_nothing(self):
        made = self.make()
        self.assertTrue(made["made"])
        self.assertEqual(made["packages"], {"pkg": "1.0"})
        self.assertEqual(python(made["path"], "import pkg.mod; print(pkg.mod.__file__)"), made["site"] + "/pkg/mod.py")
        self.assertFalse(self.make()["made"])

    def test_the_adopted_venv_is_identical_after_make_patch_rollback_and_remove(self):
        before = identity(self.venv)
        first = self.make()
        self.make(
            [self.wheel_overlay("pkg", "2.0", {"pkg/__init__.py": "two = 2\n"})],
            [self.file_patch("pkg/__init__.py", "two = 3\n")],
        )
        self.make()
        self.assertEqual(read(first["site"], "pkg/mod.py"), OLD)
        make.remove(self.request(claim=self.claim("venv")))
        self.assertEqual(identity(self.venv), before)

    def test_a_cp_over_the_adopted_venv_does_not_reach_a_release(self):
        made = self.make()
        with open(os.path.join(self.site, "pkg", "mod.py"), "r+") as file:
            file.write("x = 9")
        self.assertEqual(python(made["path"], "import pkg.mod; print(pkg.mod.f())"), "1")

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

    def test_scripts_of_a_release_run_the_release(self):
        made = self.make()
        os.rename(self.venv, self.venv + ".away")
        moved = os.path.join(self.top, "moved")
        os.symlink(made["path"], moved)
        self.assertEqual(subprocess.check_output([moved + "/bin/pkg-where"]).decode().strip(), made["path"])
        ran = (
            subprocess.check_output(["sh", "-c", ". %s/bin/activate && echo $VIRTUAL_ENV" % made["path"]])
            .decode()
            .strip()
        )
        self.assertEqual(ran, made["path"])

    def test_a_base_that_moved_since_the_preview_is_refused(self):
        recipe = {
            "version": 1,
            "base": {"kind": "adopt", "path": self.venv, "fingerprint": "0" * 64},
            "overlays": "",
            "patches": "",
        }
        fault = self.fault("base-moved", recipe=recipe, release="r")
        self.assertEqual(fault.message, self.venv + " was changed since the preview")
        self.assertFalse(os.path.exists(self.layout.venv("v")))

    def test_a_second_fingerprint_copies_only_what_changed(self):
        first = self.make()
        write(os.path.join(self.site, "pkg", "mod.py"), "x = 22\n")
        second = self.make()
        self.assertNotEqual(first["release"], second["release"])
        self.assertTrue(os.path.samefile(first["site"] + "/pkg/where.py", second["site"] + "/pkg/where.py"))
        self.assertEqual(python(second["path"], "import pkg.mod; print(pkg.mod.x)"), "22")
        self.assertEqual(python(first["path"], "import pkg.mod; print(pkg.mod.x)"), "1")

    def test_what_is_not_a_venv_is_not_adopted(self):
        fault = self.fault("not-a-venv", base={"adopt": self.top})
        self.assertEqual(fault.more["found"], "a directory without pyvenv.cfg")

    def test_a_venv_whose_interpreter_is_gone_is_named_before_anything_is_copied(self):
        python = os.path.join(self.venv, "bin", "python")
        os.unlink(python)
        os.symlink("/gone/python3", python)
        fault = self.fault("broken-python")
        self.assertEqual(fault.message, "the interpreter %s does not run" % python)
        self.assertIn("-> /gone/python3", fault.more["found"])
        self.assertFalse([line for line in self.said if line.startswith(("copying", "composing"))])

    def test_a_root_inside_the_adopted_venv_is_refused(self):
        self.root = os.path.join(self.venv, "ours")
        self.layout = type(self.layout)(self.root)
        self.fault("bad-root")


class Drift(MadeTest):
    """What was edited by hand in a release is seen by path, and given back file by file."""

    def edit(self, made):
        write(made["site"] + "/pkg/mod.py.new", "x = 5\n")
        os.replace(made["site"] + "/pkg/mod.py.new", made["site"] + "/pkg/mod.py")
        write(made["site"] + "/pkg/extra.py", "")
        os.unlink(made["site"] + "/pkg/where.py")

    def test_each_foreign_edit_is_seen_by_path_and_given_back(self):
        made = self.make()
        self.edit(made)
        self.assertEqual(
            self.facts(made["release"])["drift"],
            [
                {"path": "pkg/extra.py", "kind": "extra"},
                {"path": "pkg/mod.py", "kind": "edited"},
                {"path": "pkg/where.py", "kind": "missing"},
            ],
        )
        again = self.make()
        self.assertTrue(again["made"])
        self.assertEqual(self.facts(made["release"])["drift"], [])
        self.assertEqual(read(made["site"], "pkg/mod.py"), OLD)
        self.assertEqual(
            sorted(os.listdir(made["site"] + "/pkg")), ["__init__.py", "__pycache__", "mod.py", "where.py"]
        )
        self.assertFalse(self.make()["made"])

    def test_an_edit_that_hides_its_time_and_size_is_seen_in_a_patched_file(self):
        made = self.make((), [self.file_patch("pkg/mod.py", "x = 2\n")])
        facts = os.stat(made["site"] + "/pkg/mod.py")
        write(made["site"] + "/pkg/mod.py", "x = 3\n")
        os.utime(made["site"] + "/pkg/mod.py", ns=(facts.st_atime_ns, facts.st_mtime_ns))
        self.assertEqual(self.facts(made["release"])["driftCount"], 1)
        self.assertEqual(self.facts(made["release"])["files"], {"pkg/mod.py": sha256("x = 3\n")})
        self.make((), [self.file_patch("pkg/mod.py", "x = 2\n")])
        self.assertEqual(python(made["path"], "import pkg.mod; print(pkg.mod.x)"), "2")

    def test_a_write_into_a_shared_file_is_mended_in_the_base_too(self):
        made = self.make()
        with open(made["site"] + "/pkg/mod.py", "a") as file:
            file.write("y = 1\n")
        self.make()
        self.assertEqual(read(made["site"], "pkg/mod.py"), OLD)
        other = self.make((), [self.file_patch("pkg/where.py", "z = 1\n")])
        self.assertEqual(read(other["site"], "pkg/mod.py"), OLD)

    def test_a_process_that_runs_from_the_release_keeps_running_while_it_is_mended(self):
        made = self.make()
        process = subprocess.Popen(
            [
                made["path"] + "/bin/python",
                "-c",
                "import sys; print('up', flush=True); sys.stdin.read(1); import pkg.mod; print(pkg.mod.f())",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.assertEqual(process.stdout.readline(), b"up\n")
        self.edit(made)
        self.make()
        self.assertEqual(process.communicate(b"x")[0], b"1\n")

    def test_an_old_release_is_whole_again_when_it_is_wanted_again(self):
        made = self.make()
        self.make((), [self.file_patch("pkg/mod.py", "x = 2\n")])
        self.edit(made)
        self.assertTrue(self.make()["made"])
        self.assertEqual(read(made["site"], "pkg/mod.py"), OLD)


class Ends(MadeTest):
    """Cancelled, killed, full, collected, removed."""

    def test_a_cancelled_make_leaves_nothing(self):
        event = threading.Event()
        staged = self.stage()
        self.make()
        before = self.releases()
        request = self.request(
            claim=self.claim("venv"),
            venv="v",
            release="other",
            base={"adopt": self.venv},
            recipe=self.recipe(),
            overlays=staged[0],
            patches=staged[1],
        )
        request._cancelled = event
        event.set()
        with self.assertRaises(Fault) as caught:
            make.make(request)
        self.assertEqual(caught.exception.code, "cancelled")
        self.assertEqual(self.releases(), before)

    def recipe(self):
        return {
            "version": 1,
            "base": {"kind": "adopt", "path": self.venv, "fingerprint": fingerprint(self.venv, (self.root,))},
            "overlays": "",
            "patches": "",
        }

    def test_what_a_killed_run_left_is_removed_by_the_next(self):
        os.makedirs(self.layout.venv("v", "releases", ".tmp-abc", "lib"))
        os.makedirs(self.layout.venv("v", ".tmp-base", "lib"))
        made = self.make()
        self.assertEqual(
            self.releases(),
            [made["release"] + ending for ending in ("", ".json", ".manifest", ".stamps", ".sums", ".watched")],
        )
        self.assertFalse(os.path.exists(self.layout.venv("v", ".tmp-base")))

    def test_a_release_without_its_facts_is_made_again(self):
        made = self.make()
        os.unlink(made["path"] + ".json")
        self.assertTrue(self.make()["made"])

    def test_old_releases_go_but_for_those_in_use(self):
        made = [self.make((), [self.file_patch("pkg/mod.py", "x = %d\n" % number)], keep=2) for number in range(2)]
        os.makedirs(self.layout.service("s"))
        os.symlink(made[0]["path"], self.layout.service("s", "venv"))
        process = subprocess.Popen(
            [made[1]["path"] + "/bin/python", "-c", "print('up', flush=True); input()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.addCleanup(process.communicate)
        process.stdout.readline()
        made += [self.make((), [self.file_patch("pkg/mod.py", "x = %d\n" % number)], keep=2) for number in range(2, 5)]
        self.assertEqual([os.path.isdir(one["path"]) for one in made], [True, True, False, True, True])
        os.unlink(self.layout.service("s", "venv"))
        process.communicate(b"\n")
        self.make((), [self.file_patch("pkg/mod.py", "x = 4\n")], keep=2)
        self.assertEqual([os.path.isdir(one["path"]) for one in made], [False, False, False, True, True])

    def test_remove_leaves_nothing_and_is_refused_while_something_runs(self):
        made = self.make()
        process = subprocess.Popen(
            [made["path"] + "/bin/python", "-c", "print('up', flush=True); input()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        process.stdout.readline()
        with self.assertRaises(Fault) as caught:
            make.remove(self.request(claim=self.claim("venv")))
        self.assertEqual(
            (caught.exception.code, caught.exception.more["found"]), ("in-use", "processes %d" % process.pid)
        )
        process.communicate(b"\n")
        make.remove(self.request(claim=self.claim("venv")))
        self.assertFalse(os.path.exists(self.root))

    def test_no_room_is_said_before_anything_is_copied(self):
        self.addCleanup(setattr, space, "SPARE_BYTES", space.SPARE_BYTES)
        space.SPARE_BYTES = 1 << 60
        fault = self.fault("no-space")
        self.assertEqual(fault.message, "no room for a copy of " + self.venv)
        self.assertFalse(os.path.exists(self.layout.venv("v")))

    @unittest.skipUnless(os.geteuid() == 0, "mounts a small file system")
    def test_a_disk_that_fills_up_is_said_with_its_place_and_leaves_the_old_release(self):
        small = os.path.join(self.top, "small")
        os.makedirs(small)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", small], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", small])
        self.addCleanup(setattr, space, "SPARE_BYTES", space.SPARE_BYTES)
        space.SPARE_BYTES = 0
        self.root = os.path.join(small, "root")
        self.layout = type(self.layout)(self.root)
        made = self.make()
        self.store(os.urandom(3 << 20))
        fault = self.fault("no-space", (), [self.file_patch("pkg/big.py", b"#" + os.urandom(2 << 20).hex().encode())])
        self.assertEqual(self.facts(made["release"])["driftCount"], 0)
        self.assertIn(small, fault.more["where"])
        self.assertEqual([name for name in self.releases() if name.startswith(".")], [])


def recorded(lines, path):
    return next(line[len(path) + 1 :] for line in lines if line.startswith(path + ","))


def recorded_as(text):
    return "sha256=%s,%d" % (
        base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode(),
        len(text),
    )

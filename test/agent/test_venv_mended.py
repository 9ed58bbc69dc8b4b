"""A release that somebody edited by hand is given back as it was made."""

import os
import subprocess

from test.agent.made import OLD, MadeTest
from test.agent.place import python, read, sha256, write


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

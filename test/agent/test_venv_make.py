"""A release from end to end: adopted base, overlays, patches, gates; and what the adopted venv sees of it (nothing)."""

import os
import subprocess

from agent.venv import make
from test.agent.made import OLD, MadeTest
from test.agent.place import identity, python, read, write


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

"""Bases: adopted venvs as they are copied, managed ones as they are built."""

import json
import os
import shutil
import stat
import subprocess
import sys
import unittest

from agent.fault import Fault
from agent.venv import interpreter, relocate, uv
from agent.venv.fingerprint import fingerprint
from test.agent.place import PlaceTest, identity, python, read, write
from test.agent.wheels import wheel


class Copies(PlaceTest):
    def test_modes_times_links_and_hard_links_are_kept(self):
        write(os.path.join(self.site, "a.sh"), "#!/bin/sh\n", 0o750)
        os.link(os.path.join(self.site, "a.sh"), os.path.join(self.site, "b.sh"))
        os.symlink("a.sh", os.path.join(self.site, "c.sh"))
        os.symlink(os.path.join(self.site, "a.sh"), os.path.join(self.site, "d.sh"))
        os.utime(os.path.join(self.site, "a.sh"), ns=(1, 123456789))
        made = self.make()
        base = self.layout.venv(
            "v",
            next(name for name in os.listdir(self.layout.venv("v")) if name.startswith("base-") and "." not in name),
        )
        site = interpreter.site_packages(base)
        facts = os.stat(site + "/a.sh")
        self.assertEqual(
            (facts.st_mode & 0o777, facts.st_mtime_ns, os.path.samefile(site + "/a.sh", site + "/b.sh")),
            (0o750, 123456789, True),
        )
        self.assertEqual((os.readlink(site + "/c.sh"), os.readlink(site + "/d.sh")), ("a.sh", "a.sh"))
        self.assertTrue(os.path.samefile(made["site"] + "/a.sh", site + "/a.sh"))
        self.assertFalse(os.path.samefile(self.site + "/a.sh", site + "/a.sh"))

    def test_a_mode_or_time_that_was_changed_through_a_release_is_given_back_without_another_copy(self):
        write(os.path.join(self.site, "a.py"), "x = 1\n", 0o644)
        write(os.path.join(self.site, "b.py"), "x = 1\n", 0o644)
        made = self.make()
        folder = self.layout.venv("v")
        (base,) = [name for name in os.listdir(folder) if name.startswith("base-") and "." not in name]
        before = os.stat(os.path.join(folder, base)).st_ino
        as_made = {name: os.stat(made["site"] + name) for name in ("/a.py", "/b.py")}
        os.chmod(made["site"] + "/a.py", 0o600)
        os.utime(made["site"] + "/b.py", (1, 1))
        self.make()
        self.assertEqual(os.stat(os.path.join(folder, base)).st_ino, before)
        for name, facts in as_made.items():
            found = os.stat(made["site"] + name)
            self.assertEqual((found.st_mode, found.st_mtime_ns), (facts.st_mode, facts.st_mtime_ns), name)
        # By its time the one may have held other bytes meanwhile; the other never did.
        with open(made["path"] + ".json") as file:
            self.assertEqual(sorted(json.load(file)["mended"]), ["b.py"])
        with open(made["site"] + "/a.py", "a") as file:
            file.write("x = 2\n")
        self.make()
        self.assertNotEqual(os.stat(os.path.join(folder, base)).st_ino, before)
        self.assertEqual(read(made["site"], "a.py"), "x = 1\n")

    def test_bytecode_that_is_valid_is_kept_and_the_rest_is_made(self):
        write(os.path.join(self.site, "a.py"), "x = 1\n")
        python(self.venv, "import a")
        write(os.path.join(self.site, "b.py"), "x = 1\n")
        write(os.path.join(self.site, "broken.py"), "def f(:\n")
        made = self.make()
        tag = sys.implementation.cache_tag
        self.assertEqual(sorted(os.listdir(made["site"] + "/__pycache__")), ["a.%s.pyc" % tag, "b.%s.pyc" % tag])
        before = identity(made["site"] + "/__pycache__")
        python(made["path"], "import a, b")
        self.assertEqual(identity(made["site"] + "/__pycache__"), before)

    def test_scripts_of_a_venv_that_was_copied_before_run_the_release_as_well(self):
        origin = os.path.join(self.top, "origin")
        shutil.copytree(self.venv, origin, symlinks=True)
        write(
            os.path.join(self.venv, "bin", "tool"), "#!%s/bin/python3\nimport sys\nprint(sys.prefix)\n" % origin, 0o755
        )
        write(os.path.join(self.venv, "bin", "gone"), "#!/gone/bin/python\nimport sys\nprint(sys.prefix)\n", 0o755)
        write(os.path.join(self.venv, "bin", "system"), "#!/usr/bin/env python3\n", 0o755)
        made = self.make()
        for name in ("tool", "gone"):
            self.assertEqual(subprocess.check_output([made["path"] + "/bin/" + name]).decode().strip(), made["path"])
        self.assertEqual(read(made["path"], "bin/system"), "#!/usr/bin/env python3\n")
        self.assertTrue(read(self.venv, "bin/gone").startswith("#!/gone"))

    def test_the_long_form_of_a_shebang_is_known(self):
        text = b"#!/bin/sh\n'''exec' \"/a/very long/bin/python\" \"$0\" \"$@\"\n' '''\nimport sys\n"
        self.assertEqual(
            relocate.relocatable(text, lambda path: path == "/a/very long/bin/python"),
            (relocate.HEAD % ("python", "")).encode() + b"import sys\n",
        )

    def test_a_base_that_is_gone_is_not_needed_by_what_was_copied_from_it(self):
        made = self.make()
        recipe = {
            "version": 1,
            "base": {"kind": "adopt", "path": self.venv, "fingerprint": fingerprint(self.venv, (self.root,))},
            "overlays": "",
            "patches": "p",
        }
        shutil.rmtree(self.venv)
        other = self.make(recipe=recipe, release="other")
        self.assertEqual(python(other["path"], "print(1)"), "1")
        self.assertNotEqual(made["path"], other["path"])


class Managed(PlaceTest):
    def setUp(self):
        super().setUp()
        self.wheels = os.path.join(self.top, "wheels")
        for name, requires in (("p", ["q"]), ("q", [])):
            filename, data = wheel(
                name,
                "1",
                {name + ".py": "import sys\ndef main():\n    print(sys.prefix)\n"},
                requires=requires,
                entry_points={name + "-where": name + ":main"},
            )
            write(os.path.join(self.wheels, filename), data)

    def base(self, requirements, **more):
        return dict(
            {
                "key": "k1",
                "python": sys.executable,
                "requirements": self.store(requirements),
                "findLinks": [self.wheels],
                "noDeps": True,
                "uv": None,
            },
            **more,
        )

    def check(self):
        made = self.make(base=self.base("p==1\nq==1\n"))
        self.assertEqual(made["packages"], {"p": "1", "q": "1"})
        self.assertEqual(subprocess.check_output([made["path"] + "/bin/p-where"]).decode().strip(), made["path"])
        self.assertEqual(
            subprocess.check_output(["bash", "-c", ". %s/bin/activate && echo $VIRTUAL_ENV" % made["path"]])
            .decode()
            .strip(),
            made["path"],
        )
        self.assertFalse(self.make(base=self.base("p==1\nq==1\n"))["made"])
        return made

    @unittest.skipUnless(shutil.which("uv"), "needs uv")
    def test_uv_builds_it_and_no_file_is_shared_with_its_cache(self):
        made = self.check()
        base = self.layout.base("v", "k1")
        self.assertEqual(os.stat(interpreter.site_packages(base) + "/p.py").st_nlink, 2)
        self.assertTrue(os.path.samefile(interpreter.site_packages(base) + "/p.py", made["site"] + "/p.py"))

    @unittest.skipUnless(shutil.which("uv"), "needs uv")
    def test_its_requirements_are_for_their_owner_to_read_also_where_an_older_version_let_everybody(self):
        account = "user:a-passw0rd"
        base = self.base("p @ file://%s/p-1-py3-none-any.whl\n# https://%s@h/\n" % (self.wheels, account))
        path = self.layout.content(base["requirements"])
        base.update(extraIndexUrl=["http://%s@127.0.0.1:9/" % account])
        for _ in range(2):
            os.chmod(path, 0o444)
            self.make(base=base)
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o400)
        found = subprocess.run(["grep", "-rlF", account, self.root], stdout=subprocess.PIPE).stdout.decode().split()
        self.assertEqual(found, [path])

    @unittest.skipUnless(shutil.which("uv"), "needs uv")
    def test_dependencies_are_resolved_only_when_asked_for(self):
        self.assertEqual(self.make(base=self.base("p==1\n"))["packages"], {"p": "1"})
        self.assertEqual(self.make(base=self.base("p==1\n", key="k2", noDeps=False))["packages"], {"p": "1", "q": "1"})

    @unittest.skipUnless(shutil.which("uv"), "needs uv")
    def test_what_uv_cannot_do_is_said_and_nothing_is_left(self):
        with self.assertRaises(Fault) as caught:
            self.make(base=self.base("p==2\n"))
        self.assertEqual(caught.exception.code, "build-failed")
        self.assertIn("p==2", caught.exception.more["detail"])
        self.assertEqual(
            [name for name in os.listdir(self.layout.root + "/venvs")]
            if os.path.isdir(self.layout.root + "/venvs")
            else [],
            [],
        )

    def test_pip_builds_it_where_there_is_no_uv(self):
        self.without_uv()
        self.check()
        self.assertTrue(os.path.isfile(self.layout.at("tools", "bin", "pip")))

    def test_a_python_that_is_not_there_is_said(self):
        self.without_uv()
        with self.assertRaises(Fault) as caught:
            self.make(base=self.base("p==1\n", python="3.99"))
        self.assertEqual((caught.exception.code, caught.exception.more["expected"]), ("no-python", "python3.99"))

    @unittest.skipUnless(shutil.which("uv"), "needs uv")
    def test_a_uv_that_was_sent_along_is_used(self):
        with open(shutil.which("uv"), "rb") as file:
            sent = self.store(file.read())
        installer = uv.find(self.request(), sent)
        self.assertEqual(installer.uv, self.layout.at("bin", "uv"))
        self.assertTrue(os.access(installer.uv, os.X_OK))

    def test_a_host_without_uv_says_so_when_it_is_asked_before_pip_has_to_do(self):
        self.without_uv()
        with self.assertRaises(Fault) as caught:
            self.make(base=dict(self.base("p==1\n"), uv="ask"))
        self.assertEqual(caught.exception.code, "no-uv")
        self.assertFalse(os.path.exists(self.layout.venv("v")))

    def test_a_uv_that_does_not_run_here_is_left_alone(self):
        self.without_uv()
        self.assertIsNone(uv.find(self.request(), self.store(b"\x7fELF of another machine")).uv)

    def without_uv(self):
        real = uv.shutil.which
        self.addCleanup(setattr, uv.shutil, "which", real)
        uv.shutil.which = lambda name: None if name == "uv" else real(name)
        usual = uv.USUAL
        self.addCleanup(setattr, uv, "USUAL", usual)
        uv.USUAL = ()


class Unreadable(PlaceTest):
    @unittest.skipUnless(os.geteuid() == 0, "gives a folder to another user")
    def test_a_venv_that_may_not_be_read_is_no_fingerprint_and_a_clear_fault(self):
        os.chmod(self.venv, 0o700)
        code = (
            "import os, sys; sys.path.insert(0, %r)\nfrom agent.venv import fingerprint, interpreter\nos.setuid(65534)\n"
            "print(fingerprint.fingerprint(%r))\ntry:\n    interpreter.require_venv(%r)\nexcept Exception as fault:\n    print(fault.more['found'])\n"
        ) % (os.getcwd(), self.venv, self.venv)
        os.chmod(self.top, 0o755)
        ran = subprocess.run([sys.executable, "-I", "-B", "-c", code], stdout=subprocess.PIPE, cwd="/")
        self.assertEqual(ran.stdout.decode().splitlines(), ["None", "a directory that user id 65534 may not read"])

"""Editable installs of an adopted base: a release has their sources inside, and a patch meets the file that is imported."""

import json
import os
import unittest.mock

from agent.fault import Fault
from agent.files import read_json
from agent.venv import fingerprint, moved
from test.agent.place import PlaceTest, install, python, read, write

FINDER = """from __future__ import annotations
import sys
from importlib.machinery import ModuleSpec, PathFinder, all_suffixes as module_suffixes
from importlib.util import spec_from_file_location
from itertools import chain
from pathlib import Path
MAPPING: dict[str, str] = {'sglang': %r}
NAMESPACES: dict[str, list[str]] = {}
class _EditableFinder:
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname in MAPPING:
            return spec_from_file_location(fullname, MAPPING[fullname] + "/__init__.py")
def install():
    sys.meta_path.append(_EditableFinder)
"""


class Editable(PlaceTest):
    def setUp(self):
        super().setUp()
        # As in the field: the checkout is /src/sglang, the package /src/sglang/python/sglang.
        self.src = os.path.join(self.top, "src")
        self.checkout = os.path.join(self.src, "sglang", "python")
        write(os.path.join(self.checkout, "sglang", "__init__.py"), "where = __file__\n")
        write(os.path.join(self.checkout, "sglang", "srt", "__init__.py"), "")
        write(os.path.join(self.checkout, "sglang", "srt", "x.py"), "v = 1\n")
        write(os.path.join(self.checkout, ".git", "HEAD"), "ref")

    def finder(self):
        install(
            self.site,
            "sglang",
            "0.5",
            {
                "__editable__.sglang-0.5.pth": "import __editable___sglang_0_5_finder; __editable___sglang_0_5_finder.install()",
                "__editable___sglang_0_5_finder.py": FINDER % os.path.join(self.checkout, "sglang"),
                "sglang-0.5.dist-info/direct_url.json": json.dumps(
                    {"url": "file://" + self.checkout, "dir_info": {"editable": True}}
                ),
            },
        )

    def path_line(self):
        install(self.site, "sglang", "0.5", {"__editable__.sglang-0.5.pth": self.checkout + "\n"})

    def test_a_path_line_leads_into_the_release(self):
        self.path_line()
        made = self.make()
        self.assertEqual(
            python(made["path"], "import sglang; print(sglang.where)"), made["path"] + "/src/0/sglang/__init__.py"
        )
        self.assertEqual(read(made["site"], "__editable__.sglang-0.5.pth"), "../../../src/0\n")
        self.assertFalse(os.path.exists(made["path"] + "/src/0/.git"))

    def test_a_release_finds_its_sources_through_a_link_too(self):
        self.path_line()
        made = self.make()
        os.symlink(made["path"], os.path.join(self.top, "stable"))
        self.assertEqual(
            python(os.path.join(self.top, "stable"), "import sglang; print(sglang.where)"),
            self.top + "/stable/src/0/sglang/__init__.py",
        )

    def test_a_directory_of_the_same_name_in_the_working_directory_hides_the_adopted_install_and_not_the_release(self):
        self.finder()
        code = "import sglang; print(sglang.__file__)"
        self.assertEqual(python(self.venv, code, cwd=self.src), "None")
        made = self.make()
        self.assertEqual(python(made["path"], code, cwd=self.src), made["path"] + "/src/0/sglang/__init__.py")
        self.assertFalse(os.path.exists(made["site"] + "/__editable___sglang_0_5_finder.py"))
        self.assertEqual(json.loads(read(made["site"], "sglang-0.5.dist-info/direct_url.json"))["dir_info"], {})
        self.assertNotIn("finder", read(made["site"], "sglang-0.5.dist-info/RECORD"))

    def test_a_patch_meets_the_file_that_is_imported_and_not_the_checkout(self):
        self.finder()
        for target in ({"module": "sglang.srt.x"}, {"path": "sglang/srt/x.py"}):
            made = self.make(
                (),
                [
                    {
                        "target": target,
                        "kind": "diff",
                        "sha256": self.store("--- a\n+++ b\n@@ -1 +1 @@\n-v = 1\n+v = 2\n"),
                        "pre": None,
                    }
                ],
            )
            self.assertEqual(
                python(made["path"], "import sglang.srt.x as x; print(x.v, x.__file__)", cwd=self.src),
                "2 %s/src/0/sglang/srt/x.py" % made["path"],
            )
        self.assertEqual(read(self.checkout, "sglang/srt/x.py"), "v = 1\n")

    def test_an_edit_of_the_checkout_is_another_base(self):
        self.path_line()
        before = fingerprint.fingerprint(self.venv)
        write(os.path.join(self.checkout, "sglang", "srt", "x.py"), "v = 33\n")
        self.assertNotEqual(fingerprint.fingerprint(self.venv), before)
        after = fingerprint.fingerprint(self.venv)
        write(os.path.join(self.checkout, ".git", "index"), "x")
        python(self.venv, "import sglang.srt.x")
        self.assertEqual(fingerprint.fingerprint(self.venv), after)

    def test_what_was_edited_in_a_checkout_since_it_was_copied_is_named(self):
        for install_it in (self.path_line, self.finder):
            with self.subTest(install_it.__name__):
                install_it()
                made = self.make()
                base = self.layout.venv("v", read_json(made["path"] + ".json")["base"])
                self.assertEqual(moved.changes(base, self.venv), {"packages": {}, "files": 0, "first": []})
                write(os.path.join(self.checkout, "sglang", "srt", "x.py"), "v = %d33\n" % len(install_it.__name__))
                write(os.path.join(self.checkout, "sglang", "more.py"), "")
                names = ["more.py", "srt/x.py"]
                first = [os.path.join(self.checkout, "sglang", name) for name in names]
                self.assertEqual(moved.changes(base, self.venv), {"packages": {}, "files": 2, "first": first})
                os.unlink(first[0])

    def test_a_checkout_that_holds_the_venv_is_copied_without_it(self):
        write(os.path.join(self.site, "own.pth"), self.top + "\n")
        made = self.make()
        self.assertTrue(os.path.exists(made["path"] + "/src/0/src/sglang/python/sglang/__init__.py"))
        self.assertFalse(os.path.exists(made["path"] + "/src/0/adopted"))
        self.assertFalse(os.path.exists(made["path"] + "/src/0/root"))

    def test_a_line_that_leads_to_far_too_much_is_refused_and_blinds_no_look(self):
        self.path_line()
        with unittest.mock.patch("agent.venv.editable.MOST_FILES", 2):
            self.assertIsNone(fingerprint.fingerprint(self.venv))
            with self.assertRaises(Fault) as caught:
                fingerprint.snapshot(self.venv)
        self.assertEqual(
            (caught.exception.code, caught.exception.more["found"]), ("source-too-large", "more than 2 files")
        )

    def test_a_line_to_what_cannot_be_listed_blinds_no_look(self):
        self.path_line()
        with unittest.mock.patch("agent.venv.tree.os.scandir", side_effect=OSError(5, "Input/output error")):
            self.assertIsNone(fingerprint.fingerprint(self.venv))

    def test_an_overlay_over_an_editable_install_takes_its_sources_away(self):
        self.finder()
        made = self.make([self.wheel_overlay("sglang", "0.6", {"sglang/__init__.py": "where = __file__\n"})])
        self.assertEqual(
            python(made["path"], "import sglang; print(sglang.where)", cwd=self.src),
            made["site"] + "/sglang/__init__.py",
        )
        self.assertFalse(os.path.exists(made["path"] + "/src"))

    def test_a_line_into_the_venv_itself_leads_into_the_copy(self):
        write(os.path.join(self.site, "extra.pth"), os.path.join(self.venv, "more") + "\n")
        write(os.path.join(self.venv, "more", "extra_module.py"), "w = __file__\n")
        made = self.make()
        self.assertEqual(
            python(made["path"], "import extra_module; print(extra_module.w)"), made["path"] + "/more/extra_module.py"
        )

    def test_a_redirecting_finder_of_hatch_is_followed(self):
        install(
            self.site,
            "one",
            "1",
            {
                "_one.pth": "import _editable_impl_one",
                "_editable_impl_one.py": "class F:\n    @staticmethod\n    def map_module(name, path):\n        pass\nF.map_module('sglang', %r)\n"
                % os.path.join(self.checkout, "sglang", "__init__.py"),
            },
        )
        made = self.make()
        self.assertEqual(
            python(made["path"], "import sglang; print(sglang.where)"), made["path"] + "/src/0/sglang/__init__.py"
        )

"""Links of an adopted venv's packages that lead out of it: a release has what they lead to, and nobody's files are changed."""

import os
import shutil

from agent.fault import Fault
from agent.venv import fingerprint
from test.agent.place import PlaceTest, identity, python, read, write

DIFF = "--- a/pkg/m.py\n+++ b/pkg/m.py\n@@ -1,2 +1,2 @@\n-TEXT = 'a'\n+TEXT = 'b'\n B = 1\n"


class Links(PlaceTest):
    def setUp(self):
        super().setUp()
        self.out = os.path.join(self.top, "checkout", "linked")
        write(os.path.join(self.out, "__init__.py"), "")
        write(os.path.join(self.out, "m.py"), "TEXT = 'a'\nB = 1\n")
        write(os.path.join(self.out, ".git", "HEAD"), "x")
        os.symlink(self.out, os.path.join(self.site, "linked"))
        write(os.path.join(self.top, "cache", "single.py"), "TEXT = 'a'\nB = 1\n")
        os.symlink(os.path.join(self.top, "cache", "single.py"), os.path.join(self.site, "single.py"))

    def test_a_patch_reaches_the_release_and_not_what_the_link_leads_to(self):
        before = identity(self.top + "/checkout"), identity(self.top + "/cache")
        made = self.make(wanted_patches=[self.diff_patch("linked.m", DIFF), self.diff_patch("single", DIFF)])
        self.assertEqual(python(made["path"], "import linked.m, single; print(linked.m.TEXT, single.TEXT)"), "b b")
        self.assertEqual((identity(self.top + "/checkout"), identity(self.top + "/cache")), before)

    def test_a_release_does_not_need_what_the_link_led_to(self):
        made = self.make()
        shutil.rmtree(self.top + "/checkout")
        shutil.rmtree(self.top + "/cache")
        self.assertEqual(python(made["path"], "import linked.m, single; print(linked.m.TEXT, single.TEXT)"), "a a")
        self.assertFalse(os.path.exists(made["site"] + "/linked/.git"))

    def test_an_edit_behind_a_link_is_another_base(self):
        found = [fingerprint.fingerprint(self.venv)]
        write(os.path.join(self.out, "m.py"), "TEXT = 'aa'\n")
        found.append(fingerprint.fingerprint(self.venv))
        write(os.path.join(self.top, "cache", "single.py"), "TEXT = 'aa'\n")
        found.append(fingerprint.fingerprint(self.venv))
        self.assertEqual(len(set(found)), 3)

    def test_a_link_to_itself_and_one_to_nothing_stay_links(self):
        os.symlink(self.out, os.path.join(self.out, "again"))
        os.symlink("/nowhere", os.path.join(self.site, "gone"))
        made = self.make()
        self.assertTrue(os.path.islink(made["site"] + "/linked/again"))
        self.assertEqual(os.readlink(made["site"] + "/gone"), "/nowhere")

    def test_a_patch_behind_a_link_that_stayed_is_refused(self):
        os.makedirs(self.top + "/other")
        write(self.top + "/other/m.py", "TEXT = 'a'\nB = 1\n")
        os.symlink(self.top + "/other", os.path.join(self.out, "deep"))
        with self.assertRaises(Fault) as caught:
            self.make(wanted_patches=[self.diff_patch("linked.deep.m", DIFF)])
        self.assertEqual(
            (caught.exception.code, caught.exception.more["where"], caught.exception.more["found"]),
            ("outside", "linked/deep/m.py", self.top + "/other"),
        )
        self.assertEqual(read(self.top, "other/m.py"), "TEXT = 'a'\nB = 1\n")

    def test_an_overlay_takes_the_place_of_a_link_that_stayed_and_not_of_what_it_leads_to(self):
        other = os.path.join(self.top, "other")
        write(os.path.join(other, "m.py"), "TEXT = 'theirs'\n")
        os.symlink(other, os.path.join(self.out, "deep"))
        write(os.path.join(self.site, "linked-1.dist-info", "METADATA"), "Name: linked\nVersion: 1\n")
        write(os.path.join(self.site, "linked-1.dist-info", "RECORD"), "linked/__init__.py,,\nlinked/deep/m.py,,\n")
        before = identity(other)
        made = self.make([self.wheel_overlay("linked", "2", {"linked/__init__.py": "", "linked/deep/m.py": "T = 2\n"})])
        self.assertEqual(identity(other), before)
        self.assertEqual(python(made["path"], "import linked.deep.m; print(linked.deep.m.T)"), "2")


class Twice(PlaceTest):
    def test_two_patches_of_one_file_are_refused_though_they_name_it_differently(self):
        write(os.path.join(self.site, "pkg", "__init__.py"), "")
        write(os.path.join(self.site, "pkg", "m.py"), "x = 1\n")
        by_module = dict(self.file_patch("pkg/m.py", "x = 3\n"), target={"module": "pkg.m"})
        with self.assertRaises(Fault) as caught:
            self.make(wanted_patches=[self.file_patch("pkg/m.py", "x = 2\n"), by_module])
        self.assertEqual((caught.exception.code, caught.exception.more["where"]), ("patched-twice", "pkg/m.py"))

"""What a person is shown of patched and of edited files, line by line."""

import os

from agent.venv import diff
from test.agent.place import PlaceTest, install, write

TEXT = "x = 1\n\n\ndef f():\n    return x\n"
BASE = "--- a\n+++ b\n@@ -1,5 +1,5 @@\n-x = 1\n+x = %d\n \n \n def f():\n     return x\n"


class Diff(PlaceTest):
    def setUp(self):
        super().setUp()
        install(self.site, "pkg", "1.0", {"pkg/__init__.py": "", "pkg/mod.py": TEXT, "pkg/other.py": TEXT})

    def ask(self, patches=(), files=(), lines=80, **more):
        return diff.diff(self.request(venv="v", patches=list(patches), files=list(files), lines=lines, **more))

    def patch(self, text, kind="diff"):
        return {"target": {"module": "pkg.mod"}, "kind": kind, "text": text, "pre": None}

    def test_nothing_can_be_told_before_the_first_release(self):
        self.assertEqual(
            self.ask([self.patch(BASE % 2)], ["pkg/mod.py"]),
            {"patches": [None], "files": [None], "drift": None, "exchanged": None},
        )

    def test_another_diff_is_shown_by_what_it_makes_of_the_file_that_the_old_one_made(self):
        self.make((), [self.diff_patch("pkg.mod", BASE % 2)])
        lines = ["@@ -1,4 +1,4 @@", "-x = 2", "+x = 3", " ", " ", " def f():"]
        expected = {"path": "pkg/mod.py", "added": 1, "removed": 1, "lines": lines, "more": 0}
        self.assertEqual(self.ask([self.patch(BASE % 3)])["patches"], [expected])
        self.assertEqual(self.ask([self.patch(TEXT.replace("1", "3"), "file")])["patches"], [expected])

    def test_a_diff_that_the_file_has_already_has_no_lines(self):
        self.make()
        [found] = self.ask([self.patch(BASE.replace("-x = 1", "-x = 0") % 1)])["patches"]
        self.assertEqual(found, {"path": "pkg/mod.py", "added": 0, "removed": 0, "lines": [], "more": 0})

    def test_a_diff_that_does_not_fit_says_where(self):
        self.make()
        [found] = self.ask([self.patch(BASE.replace("x = 1", "x = 7") % 2)])["patches"]
        self.assertEqual(found["path"], "pkg/mod.py")
        self.assertRegex(found["problem"], r"does not apply.*found: .*x = 1.*expected: .*x = 7")

    def test_a_hand_edit_is_shown_against_the_file_as_it_was_made_patched_or_not(self):
        site = self.make((), [self.diff_patch("pkg.mod", BASE % 2)])["site"]
        for name in ("mod.py", "other.py"):
            path = os.path.join(site, "pkg", name)
            os.unlink(path)
            write(path, TEXT.replace("1", "9"))
        found = self.ask(files=["pkg/mod.py", "pkg/other.py"])["files"]
        self.assertEqual([one["lines"][1:3] for one in found], [["-x = 2", "+x = 9"], ["-x = 1", "+x = 9"]])

    def test_another_release_than_the_wanted_one_is_told_with_what_was_changed_in_it(self):
        old = self.make()
        self.make((), [self.diff_patch("pkg.mod", BASE % 2)])
        self.assertEqual(self.ask(release=old["release"])["drift"], [])
        path = os.path.join(old["site"], "pkg", "other.py")
        os.unlink(path)
        write(path, TEXT.replace("1", "9"))
        found = self.ask(files=["pkg/other.py"], release=old["release"])
        self.assertEqual(found["drift"], [{"path": "pkg/other.py", "kind": "edited"}])
        self.assertEqual(found["files"][0]["lines"][1:3], ["-x = 1", "+x = 9"])

    def test_the_file_of_an_overlay_counts_and_not_the_base_below_it(self):
        overlay = self.wheel_overlay("pkg", "2.0", {"pkg/__init__.py": "", "pkg/mod.py": TEXT.replace("1", "5")})
        self.make([overlay])
        [found] = self.ask([self.patch(TEXT, "file")])["patches"]
        self.assertEqual(found["lines"][1:3], ["-x = 5", "+x = 1"])

    def test_a_long_difference_is_cut_and_the_rest_is_counted(self):
        self.make()
        [found] = self.ask([self.patch("y = 1\n" * 100, "file")], lines=10)["patches"]
        self.assertEqual((len(found["lines"]), found["more"], found["added"]), (10, 96, 100))

    def test_what_is_no_text_is_not_compared(self):
        site = self.make()["site"]
        path = os.path.join(site, "pkg", "mod.py")
        os.unlink(path)
        write(path, b"\xff\xfe")
        self.assertEqual(self.ask(files=["pkg/mod.py"])["files"][0]["lines"], ["(no text)"])

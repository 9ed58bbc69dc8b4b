"""Unified diffs to the letter."""

import difflib
import unittest

from agent.fault import Fault
from agent.venv import udiff

TEXT = b"".join(b"line %d\n" % number for number in range(1, 21))


def diff(old, new, context=3):
    lines = difflib.diff_bytes(
        difflib.unified_diff, old.splitlines(True), new.splitlines(True), b"a/f.py", b"b/f.py", n=context
    )
    return b"".join(line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n" for line in lines)


class Udiff(unittest.TestCase):
    def fault(self, code, text, patch):
        with self.assertRaises(Fault) as caught:
            udiff.apply(text, patch)
        self.assertEqual(caught.exception.code, code)
        return caught.exception

    def test_a_diff_of_several_hunks_gives_the_new_text(self):
        new = TEXT.replace(b"line 3\n", b"three\n").replace(b"line 17\n", b"line 17\nand a half\n")
        self.assertEqual(udiff.apply(TEXT, diff(TEXT, new)), new)

    def test_a_diff_that_is_in_the_text_already_changes_nothing(self):
        new = TEXT.replace(b"line 10\n", b"ten\n")
        self.assertIsNone(udiff.apply(new, diff(TEXT, new)))

    def test_an_appended_line_is_not_appended_again(self):
        new = b"a\nb\n"
        patch = diff(b"a\n", new)
        self.assertEqual(udiff.apply(b"a\n", patch), new)
        self.assertIsNone(udiff.apply(new, patch))

    def test_a_removed_last_line_is_not_taken_for_removed_already(self):
        patch = diff(b"a\nb\n", b"a\n")
        self.assertEqual(udiff.apply(b"a\nb\n", patch), b"a\n")
        self.assertIsNone(udiff.apply(b"a\n", patch))

    def test_a_line_of_context_that_differs_is_refused_and_shown(self):
        patch = diff(TEXT, TEXT.replace(b"line 10\n", b"ten\n"))
        fault = self.fault("patch-does-not-apply", TEXT.replace(b"line 8\n", b"line eight\n"), patch)
        self.assertEqual(fault.message, "hunk 1 does not apply at line 8")
        self.assertEqual(fault.more["found"], "'line eight'")
        self.assertEqual(fault.more["expected"], "'line 8'")

    def test_a_hunk_at_another_line_is_refused_and_its_place_named(self):
        patch = diff(TEXT, TEXT.replace(b"line 10\n", b"ten\n"))
        fault = self.fault("patch-does-not-apply", b"new first line\n" + TEXT, patch)
        self.assertEqual(fault.message, "hunk 1 does not apply at line 7 (its lines are found at line 8)")

    def test_a_file_that_ends_before_the_hunk_is_said_so(self):
        patch = diff(TEXT, TEXT.replace(b"line 19\n", b"x\n"))
        self.assertEqual(self.fault("patch-does-not-apply", TEXT[:40], patch).more["found"], "the end of the file")

    def test_a_missing_line_end_is_kept_and_compared(self):
        patch = diff(b"a\nb", b"a\nc")
        self.assertEqual(udiff.apply(b"a\nb", patch), b"a\nc")
        self.assertEqual(self.fault("patch-does-not-apply", b"a\nb\n", patch).more["found"], "'b'")

    def test_a_line_end_can_be_added(self):
        self.assertEqual(udiff.apply(b"a\nb", diff(b"a\nb", b"a\nb\n")), b"a\nb\n")

    def test_a_diff_without_crs_is_good_for_a_file_of_crlf_lines(self):
        old = TEXT.replace(b"\n", b"\r\n")
        patch = diff(TEXT, TEXT.replace(b"line 10\n", b"ten\n"))
        self.assertEqual(udiff.apply(old, patch), old.replace(b"line 10\r\n", b"ten\r\n"))

    def test_a_diff_of_a_crlf_file_keeps_its_crs(self):
        old = TEXT.replace(b"\n", b"\r\n")
        new = old.replace(b"line 10\r\n", b"ten\r\n")
        self.assertEqual(udiff.apply(old, diff(old, new)), new)

    def test_a_diff_that_an_editor_gave_crs_is_good_for_a_file_of_lf_lines(self):
        new = TEXT.replace(b"line 10\n", b"ten\n")
        self.assertEqual(udiff.apply(TEXT, diff(TEXT, new).replace(b"\n", b"\r\n")), new)

    def test_form_feeds_and_lone_crs_are_no_line_ends(self):
        old = b"a\n\x0cb\rc\nd\n"
        self.assertEqual(
            udiff.apply(old, b"--- a\n+++ b\n@@ -1,3 +1,3 @@\n a\n \x0cb\rc\n-d\n+e\n"), b"a\n\x0cb\rc\ne\n"
        )

    def test_a_new_first_line_of_an_empty_file(self):
        self.assertEqual(udiff.apply(b"", b"--- a\n+++ b\n@@ -0,0 +1 @@\n+a\n"), b"a\n")

    def test_a_diff_without_context_that_fits_both_ways_is_refused(self):
        self.fault("patch-ambiguous", b"a\nx\nx\n", b"--- a\n+++ b\n@@ -1,0 +2 @@\n+x\n")

    def test_a_removal_without_context_is_applied(self):
        self.assertEqual(udiff.apply(b"a\nb\nc\n", b"--- a\n+++ b\n@@ -2 +1,0 @@\n-b\n"), b"a\nc\n")

    def test_git_headers_are_passed_over(self):
        patch = b"diff --git a/f b/f\nindex 1..2 100644\n" + diff(b"a\n", b"b\n")
        self.assertEqual(udiff.apply(b"a\n", patch), b"b\n")

    def test_removed_lines_that_look_like_headers_are_lines(self):
        old = b"x\n-- a\n++ b\n"
        self.assertEqual(udiff.apply(old, diff(old, b"x\n")), b"x\n")

    def test_what_is_no_diff_of_one_file_is_refused(self):
        one = diff(b"a\n", b"b\n")
        for patch, message in (
            (b"hello\n", "it has no hunk"),
            (one + one, "it changes more than one file"),
            (b"--- a\n+++ b\n@@ -1,3 +1,3 @@\n a\n", "hunk 1 ends before it has the 3 and 3 lines it states"),
            (b"--- a\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "it deletes the file"),
            (b"Binary files a and b differ\n", "it is of a binary file"),
        ):
            self.assertEqual(
                self.fault("bad-diff", b"a\n", patch).message, "this is no unified diff of one file: " + message
            )

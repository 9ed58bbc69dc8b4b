import os
import tempfile
import unittest

from agent.fault import Fault
from agent.files import atomic_write, read_json, sha256_file, write_json


def content(path):
    with open(path, "rb") as stream:
        return stream.read()


class FilesTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.path = os.path.join(self.folder, "sub", "a.json")

    def test_a_new_file_gets_0644_and_its_folder_is_made(self):
        atomic_write(self.path, b"one")
        self.assertEqual((os.stat(self.path).st_mode & 0o7777, content(self.path)), (0o644, b"one"))

    def test_shorter_content_replaces_all_of_the_longer_one(self):
        atomic_write(self.path, b"line\n" * 10)
        atomic_write(self.path, b"line\n" * 3)
        self.assertEqual(content(self.path), b"line\n" * 3)

    def test_mode_and_owner_of_the_file_that_was_there_are_kept(self):
        atomic_write(self.path, b"one", mode=0o640)
        if os.geteuid() == 0:
            os.chown(self.path, 1234, 2345)
        before = os.stat(self.path)
        atomic_write(self.path, b"two")
        after = os.stat(self.path)
        self.assertEqual((after.st_mode, after.st_uid, after.st_gid), (before.st_mode, before.st_uid, before.st_gid))

    def test_a_hard_link_keeps_the_old_bytes(self):
        atomic_write(self.path, b"one")
        os.link(self.path, self.path + ".linked")
        atomic_write(self.path, b"two")
        self.assertEqual(content(self.path + ".linked"), b"one")

    def test_what_a_killed_writer_left_goes_with_the_next_write_and_what_a_living_one_writes_stays(self):
        folder = os.path.dirname(self.path)
        os.makedirs(folder)
        dead, alive = ".a.json.4194305.x.tmp", ".a.json.%d.x.tmp" % os.getpid()
        for name in (dead, alive):
            open(os.path.join(folder, name), "w").close()
        atomic_write(self.path, b"one")
        self.assertEqual(sorted(os.listdir(folder)), [alive, "a.json"])

    def test_json_comes_back_as_it_went_without_the_format(self):
        write_json(self.path, {"name": "gr\u00fc\u00df", "n": 1})
        self.assertEqual(read_json(self.path), {"name": "gr\u00fc\u00df", "n": 1})

    def test_a_file_that_is_not_there_reads_as_none(self):
        self.assertIsNone(read_json(self.path))
        self.assertIsNone(sha256_file(self.path))

    def test_a_newer_format_is_refused_with_both_numbers(self):
        atomic_write(self.path, b'{"format": 7}')
        with self.assertRaises(Fault) as caught:
            read_json(self.path)
        self.assertEqual(
            (caught.exception.code, caught.exception.more["found"], caught.exception.more["expected"]),
            ("newer-format", "format 7", "format 1 or older"),
        )

    def test_broken_json_names_the_file(self):
        atomic_write(self.path, b"{")
        with self.assertRaises(Fault) as caught:
            read_json(self.path)
        self.assertEqual((caught.exception.code, caught.exception.more["where"]), ("corrupt", self.path))

    def test_the_hash_is_that_of_the_bytes(self):
        atomic_write(self.path, b"abc")
        self.assertEqual(sha256_file(self.path), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")


if __name__ == "__main__":
    unittest.main()

import json
import os
import subprocess
import sys
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

    def test_a_file_of_another_shape_is_told_with_what_is_there_and_what_should_be(self):
        claim = {"owner": "a", "urn": "u", "since": 1}
        release = {"recipe": {}, "site": "lib", "packages": {}, "patched": {}, "made": 1.5}
        for name, value, found, expected, place in (
            ("claims.json", [], "a list", "a map", "what it holds is a list"),
            ("claims.json", {"format": 1}, "nothing", "a map", "`claims` in it is nothing"),
            ("claims.json", {"claims": {"env/s": 3}}, "a number", "a map", "`claims.env/s` in it is a number"),
            (
                "claims.json",
                {"claims": {"env/s": dict(claim, since="x")}},
                "a text",
                "a number",
                "`claims.env/s.since` in it is a text",
            ),
            ("env.json", 3, "a number", "a map", "what it holds is a number"),
            ("env.json", {"owner": "a"}, "nothing", "a value", "`id` in it is nothing"),
            ("env-1.json", {"variables": {"A": 1}}, "a number", "a text", "`variables.A` in it is a number"),
            ("format.json", {"made": [None]}, "null", "a text", "`made.0` in it is null"),
            (
                "venv.json",
                {"owner": "a", "release": 1, "base": {}, "recipe": {"base": {}}},
                "a number",
                "a text",
                "`release` in it is a number",
            ),
            ("releases/1.json", dict(release, packages=[]), "a list", "a map", "`packages` in it is a list"),
            (
                "overlays.json",
                {"owner": "a", "digest": "d", "overlays": {}},
                "a map",
                "a list",
                "`overlays` in it is a map",
            ),
            ("spec.json", True, "true or false", "a map", "what it holds is true or false"),
        ):
            with self.subTest(name, value=value):
                path = os.path.join(self.folder, name)
                atomic_write(path, json.dumps(value if not isinstance(value, dict) else dict(value, format=1)).encode())
                with self.assertRaises(Fault) as caught:
                    read_json(path)
                report = caught.exception.report()
                self.assertEqual(
                    (report["code"], report["message"], report["where"], report["found"], report["expected"]),
                    ("corrupt", "%s is not as it was written: %s" % (path, place), path, found, expected),
                )
                self.assertIn("restore this file", report["remedy"])

    def test_a_file_as_it_is_written_is_read(self):
        kept = {"owner": "a", "release": None, "base": {}, "recipe": {"base": {}}, "keep": 3}
        path = os.path.join(self.folder, "venv.json")
        write_json(path, kept)
        self.assertEqual(read_json(path), kept)

    def test_an_error_of_reading_names_the_file(self):
        for read in (read_json, sha256_file):
            with self.subTest(read.__name__), self.assertRaises(Fault) as caught:
                # Reading the first byte of it is an I/O error on each Linux.
                read("/proc/self/mem")
            self.assertEqual(caught.exception.message, "/proc/self/mem: Input/output error")
            self.assertIn("dmesg", caught.exception.more["remedy"])

    def test_what_may_not_be_read_is_told_apart_from_what_may_not_be_written(self):
        os.chmod(self.folder, 0o755)
        secret = os.path.join(self.folder, "secret")
        atomic_write(secret, b"x", 0o600)
        text = (
            "import os, sys\nsys.path.insert(0, sys.argv[1])\nfrom agent.files import explained\n"
            "os.geteuid() or os.setuid(65534)\nfor path in sys.argv[2:]:\n"
            "    try:\n        open(path, 'rb' if path.endswith('t') else 'wb')\n"
            "    except OSError as error:\n        print(explained(error, path).more['remedy'])\n"
        )
        if os.getuid():
            os.chmod(secret, 0)
            os.chmod(self.folder, 0o555)
        top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        argv = [sys.executable, "-c", text, top, secret, os.path.join(self.folder, "new")]
        told = subprocess.check_output(argv, cwd="/").decode().splitlines()
        os.chmod(self.folder, 0o755)
        self.assertEqual(
            told,
            [
                "log in as a user who may read it, set `become: sudo`, or make it readable there",
                "log in as a user who may write there, set `become: sudo`, or choose another root",
            ],
        )

import contextlib
import fcntl
import glob
import hashlib
import io
import os
import subprocess
import sys
import tempfile
import threading
import unittest

from agent import partial, store
from agent.fault import Fault
from agent.layout import Layout
from test.agent.support import RootTest, make_request


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def announced(*contents):
    return {"body": b"".join(contents), "contents": [{"sha256": sha256(data), "size": len(data)} for data in contents]}


class StoreTest(RootTest):
    def test_contents_come_one_after_the_other_and_lie_under_their_hash(self):
        contents = [b"one", b"", b"x" * (3 << 20)]
        self.assertEqual(store.put(self.request(**announced(*contents))), {"stored": 3})
        for data in contents:
            with open(self.layout.content(sha256(data)), "rb") as stream:
                self.assertEqual(stream.read(), data)
        self.assertEqual(os.listdir(self.layout.at("store", "incoming")), [])

    def test_missing_is_what_is_not_there_and_what_was_altered(self):
        store.put(self.request(**announced(b"one", b"two")))
        path = self.layout.content(sha256(b"two"))
        os.chmod(path, 0o644)
        with open(path, "wb") as stream:
            stream.write(b"owt")
        wanted = [sha256(data) for data in (b"one", b"two", b"three")]
        self.assertEqual(store.missing(self.request(sha256=wanted)), {"missing": wanted[1:]})
        store.put(self.request(**announced(b"two")))
        self.assertEqual(store.missing(self.request(sha256=wanted)), {"missing": wanted[2:]})

    def test_asking_writes_nothing(self):
        self.assertEqual(store.missing(self.request(sha256=["00" * 32])), {"missing": ["00" * 32]})
        self.assertFalse(os.path.exists(self.root))

    def test_get_gives_the_bytes_before_their_number(self):
        data = b"y" * ((1 << 20) + 1)
        store.put(self.request(**announced(data)))
        request = self.request(sha256=sha256(data))
        self.assertEqual(store.get(request), {"size": len(data)})
        self.assertEqual(b"".join(request.replied), data)
        self.fault("missing-content", store.get, self.request(sha256="00" * 32))

    def test_other_bytes_than_announced_are_refused_and_leave_the_old_ones(self):
        store.put(self.request(**announced(b"old")))
        wish = {"body": b"newer", "contents": [{"sha256": sha256(b"old"), "size": 5}]}
        fault = self.fault("bad-content", store.put, self.request(**wish))
        self.assertEqual((fault.more["found"], fault.more["expected"]), (sha256(b"newer"), sha256(b"old")))
        self.assertEqual(store.missing(self.request(sha256=[sha256(b"old")])), {"missing": []})
        self.assertEqual(os.listdir(self.layout.at("store", "incoming")), [])

    def test_require_names_all_that_is_not_there(self):
        store.put(self.request(**announced(b"one")))
        absent = [sha256(b"two"), sha256(b"three")]
        fault = self.fault("missing-content", store.require, self.layout, absent + [sha256(b"one")], "a test")
        self.assertEqual(fault.more["found"], "not there: " + ", ".join(sorted(absent)))

    def test_what_a_killed_writer_left_goes_with_the_next_write_but_not_while_another_one_writes(self):
        store.put(self.request(**announced(b"one")))
        leftover = self.layout.at("store", "incoming", "half")
        with open(leftover, "w"):
            pass
        writer = Slow(self.root)
        self.addCleanup(writer.finish)
        self.assertTrue(os.path.exists(leftover) is False, "the first writer finds nobody else and tidies up")
        with open(leftover, "w"):
            pass
        store.put(self.request(**announced(b"two")))
        self.assertTrue(os.path.exists(leftover), "somebody is writing")
        self.assertEqual(writer.finish(), {"stored": 1})
        store.put(self.request(**announced(b"three")))
        self.assertFalse(os.path.exists(leftover))

    def test_a_writer_that_is_killed_half_way_leaves_the_old_bytes_and_no_half_file_in_the_store(self):
        store.put(self.request(**announced(b"old")))
        script = (
            "import os\nfrom agent import store\nfrom test.agent.support import make_request\n"
            "class Body:\n    def read(self, size):\n        if self.__dict__.setdefault('given', 0): os.kill(os.getpid(), 9)\n"
            "        self.given = 1\n        return b'h' * 10\n"
            "request = make_request(%r, contents=[{'sha256': %r, 'size': 100}])\n"
            "request.body, request.body_size = Body(), 100\nstore.put(request)\n" % (self.root, sha256(b"old"))
        )
        self.assertEqual(subprocess.run([sys.executable, "-c", script]).returncode, -9)
        self.assertEqual(len(os.listdir(self.layout.at("store", "incoming"))), 1)
        self.assertEqual(store.missing(self.request(sha256=[sha256(b"old")])), {"missing": []})
        store.put(self.request(**announced(b"two")))
        self.assertEqual(os.listdir(self.layout.at("store", "incoming")), [])

    def cut(self, data, arrived, start=0):
        """Sends a large content whose line is cut once `arrived` of its bytes are there."""
        request = self.request(contents=[dict({"sha256": sha256(data), "size": len(data)}, **{"from": start})])
        request.body_size, request.body = len(data) - start, Cut(data[start:arrived])
        self.fault("lost", store.put, request)

    def test_what_had_arrived_of_a_large_content_is_not_sent_again(self):
        data = os.urandom(partial.LEAST) + b"the end"
        self.cut(data, partial.LEAST)
        wish = self.request(sha256=[sha256(data), sha256(b"other")])
        self.assertEqual(
            store.missing(wish),
            {"missing": [sha256(data), sha256(b"other")], "begun": {sha256(data): partial.LEAST}},
        )
        store.put(self.request(**announced(b"another writer in between")))
        self.cut(data, partial.LEAST + 4, partial.LEAST)
        rest = {"sha256": sha256(data), "size": len(data), "from": partial.LEAST + 4}
        self.assertEqual(store.put(self.request(body=b"end", contents=[rest])), {"stored": 1})
        with open(self.layout.content(sha256(data)), "rb") as stream:
            self.assertEqual(stream.read(), data)
        self.assertEqual(os.stat(self.layout.content(sha256(data))).st_mode & 0o777, 0o444)
        self.assertEqual(os.listdir(self.layout.at("store", "incoming")), [])

    def test_a_private_content_is_for_its_owner_to_read_from_its_first_byte_on(self):
        data, seen = b"a password", []

        class Watched(io.BytesIO):
            def read(watched, size=-1):
                for path in glob.glob(self.layout.at("store", "incoming", "*")):
                    seen.append(os.stat(path).st_mode & 0o777)
                return super().read(size)

        request = self.request(contents=[{"sha256": sha256(data), "size": len(data), "private": True}])
        request.body_size, request.body = len(data), Watched(data)
        store.put(request)
        self.assertEqual(seen, [0o600])
        self.assertEqual(os.stat(self.layout.content(sha256(data))).st_mode & 0o777, 0o400)

    def test_a_beginning_with_other_bytes_is_found_out_by_the_hash_of_the_whole_and_dropped(self):
        data = b"a" * partial.LEAST + b"the end"
        self.cut(data, partial.LEAST)
        with open(partial.path_of(self.layout.at("store", "incoming"), sha256(data)), "r+b") as stream:
            stream.write(b"b")
        rest = {"sha256": sha256(data), "size": len(data), "from": partial.LEAST}
        self.fault("bad-content", store.put, self.request(body=b"the end", contents=[rest]))
        self.assertEqual(store.missing(self.request(sha256=[sha256(data)])), {"missing": [sha256(data)]})
        store.put(self.request(**announced(data)))

    def test_a_beginning_that_somebody_is_writing_is_left_to_them(self):
        data = b"a" * partial.LEAST + b"the end"
        self.cut(data, partial.LEAST)
        folder = self.layout.at("store", "incoming")
        stream, _digest = partial.open_part(folder, sha256(data), partial.LEAST)
        with stream:
            self.assertEqual(store.missing(self.request(sha256=[sha256(data)])), {"missing": [sha256(data)]})
            store.put(self.request(**announced(data)))
        self.assertEqual(store.missing(self.request(sha256=[sha256(data)])), {"missing": []})

    def test_a_beginning_that_nobody_went_on_with_for_a_day_goes(self):
        data = b"a" * partial.LEAST + b"the end"
        self.cut(data, partial.LEAST)
        path = partial.path_of(self.layout.at("store", "incoming"), sha256(data))
        os.utime(path, (1, 1))
        store.put(self.request(**announced(b"another")))
        self.assertFalse(os.path.exists(path))

    def test_a_beginning_of_what_came_another_way_goes(self):
        data = b"a" * partial.LEAST + b"the end"
        self.cut(data, partial.LEAST)
        path = partial.path_of(self.layout.at("store", "incoming"), sha256(data))
        with open(path, "rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            store.put(self.request(**announced(data)))
        self.assertTrue(os.path.exists(path))
        store.put(self.request(**announced(b"another")))
        self.assertFalse(os.path.exists(path))

    def test_get_gives_the_rest_of_what_is_wanted_from_a_byte_on(self):
        store.put(self.request(**announced(b"0123456789", b"abc")))
        wanted = [sha256(b"0123456789"), sha256(b"abc")]
        request = self.request(sha256=wanted, **{"from": {wanted[0]: 7}})
        self.assertEqual(store.get(request), {"size": 6})
        self.assertEqual(b"".join(request.replied), b"789abc")


class Cut:
    """A body whose line is cut after these bytes."""

    def __init__(self, data):
        self._stream = io.BytesIO(data)

    def read(self, size):
        part = self._stream.read(size)
        if not part:
            raise Fault("lost", "the line was cut")
        return part


class Slow:
    """A writer in a thread that waits in the middle of its content."""

    def __init__(self, root):
        self._go, self._reading = threading.Event(), threading.Event()
        self._request = make_request(root, contents=[{"sha256": sha256(b"slow"), "size": 4}])
        self._request.body, self._request.body_size = self, 4
        self._thread = threading.Thread(target=self._put)
        self._thread.start()
        self._reading.wait()

    def read(self, size):
        self._reading.set()
        self._go.wait()
        return b"slow"

    def finish(self):
        self._go.set()
        self._thread.join()
        return self._outcome

    def _put(self):
        self._outcome = store.put(self._request)


@unittest.skipIf(os.geteuid() != 0, "needs root: it mounts a small tmpfs")
class FullDiskTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = os.path.join(scratch.name, "small")
        os.mkdir(self.root)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", self.root], check=True)
        self.addCleanup(subprocess.run, ["umount", self.root], check=True)

    def put(self, *contents):
        return store.put(make_request(self.root, **announced(*contents)))

    def test_what_cannot_fit_is_refused_before_the_first_byte_with_both_figures(self):
        self.put(b"old")
        with self.assertRaises(Fault) as caught:
            self.put(b"5" * 5000000)
        more = caught.exception.more
        self.assertEqual(
            (caught.exception.code, more["where"], more["expected"]),
            ("no-space", self.root + "/store", "5000000 bytes"),
        )
        self.assertRegex(more["found"], r"^\d+ bytes free$")
        self.assertEqual(os.listdir(self.root + "/store/incoming"), [])
        self.assertTrue(store.has(Layout(self.root), sha256(b"old")))

    def test_a_disk_that_fills_up_meanwhile_is_the_same_fault_and_leaves_nothing(self):
        self.put(b"old")

        class Filling:
            def read(body, size):
                with contextlib.suppress(OSError), open(self.root + "/foreign", "ab") as stream:
                    stream.write(b"f" * 900000)
                return b"5" * size

        request = make_request(self.root, contents=[{"sha256": "00" * 32, "size": 500000}])
        request.body, request.body_size = Filling(), 500000
        with self.assertRaises(Fault) as caught:
            store.put(request)
        self.assertEqual((caught.exception.code, caught.exception.more["expected"]), ("no-space", "500000 bytes"))
        self.assertEqual(os.listdir(self.root + "/store/incoming"), [])
        self.assertTrue(store.has(Layout(self.root), sha256(b"old")))


if __name__ == "__main__":
    unittest.main()

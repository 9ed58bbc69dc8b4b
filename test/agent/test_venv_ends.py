"""How the making of a release ends that is cut, lacks room, or is not wanted any more."""

import os
import subprocess
import threading
import unittest

from agent.fault import Fault
from agent.venv import make, space
from agent.venv.fingerprint import fingerprint
from test.agent.made import MadeTest
from test.agent.place import write


class Ends(MadeTest):
    """Cancelled, killed, full, collected, removed."""

    def test_a_cancelled_make_leaves_nothing(self):
        event = threading.Event()
        staged = self.stage()
        self.make()
        before = self.releases()
        request = self.request(
            claim=self.claim("venv"),
            venv="v",
            release="other",
            base={"adopt": self.venv},
            recipe=self.recipe(),
            overlays=staged[0],
            patches=staged[1],
        )
        request._cancelled = event
        event.set()
        with self.assertRaises(Fault) as caught:
            make.make(request)
        self.assertEqual(caught.exception.code, "cancelled")
        self.assertEqual(self.releases(), before)

    def recipe(self):
        return {
            "version": 1,
            "base": {"kind": "adopt", "path": self.venv, "fingerprint": fingerprint(self.venv, (self.root,))},
            "overlays": "",
            "patches": "",
        }

    def test_what_a_killed_run_left_is_removed_by_the_next(self):
        os.makedirs(self.layout.venv("v", "releases", ".tmp-abc", "lib"))
        os.makedirs(self.layout.venv("v", ".tmp-base", "lib"))
        # No process has a number so high: the writer is gone. The other one is at work.
        for name in (".base-x.stamps.99999999.1.tmp", ".base-x.stamps.%d.1.tmp" % os.getpid()):
            write(self.layout.venv("v", name), "")
        made = self.make()
        self.assertEqual(
            self.releases(),
            [made["release"] + ending for ending in ("", ".json", ".manifest", ".stamps", ".sums", ".watched")],
        )
        self.assertEqual(
            [name for name in os.listdir(self.layout.venv("v")) if name.startswith(".")],
            [".base-x.stamps.%d.1.tmp" % os.getpid()],
        )

    def test_a_release_without_its_facts_is_made_again(self):
        made = self.make()
        os.unlink(made["path"] + ".json")
        self.assertTrue(self.make()["made"])

    def test_old_releases_go_but_for_those_in_use(self):
        made = [self.make((), [self.file_patch("pkg/mod.py", "x = %d\n" % number)], keep=2) for number in range(2)]
        os.makedirs(self.layout.service("s"))
        os.symlink(made[0]["path"], self.layout.service("s", "venv"))
        process = subprocess.Popen(
            [made[1]["path"] + "/bin/python", "-c", "print('up', flush=True); input()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.addCleanup(process.communicate)
        process.stdout.readline()
        made += [self.make((), [self.file_patch("pkg/mod.py", "x = %d\n" % number)], keep=2) for number in range(2, 5)]
        self.assertEqual([os.path.isdir(one["path"]) for one in made], [True, True, False, True, True])
        os.unlink(self.layout.service("s", "venv"))
        process.communicate(b"\n")
        self.make((), [self.file_patch("pkg/mod.py", "x = 4\n")], keep=2)
        self.assertEqual([os.path.isdir(one["path"]) for one in made], [False, False, False, True, True])

    def test_remove_leaves_nothing_and_is_refused_while_something_runs(self):
        made = self.make()
        process = subprocess.Popen(
            [made["path"] + "/bin/python", "-c", "print('up', flush=True); input()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        process.stdout.readline()
        with self.assertRaises(Fault) as caught:
            make.remove(self.request(claim=self.claim("venv")))
        self.assertEqual(
            (caught.exception.code, caught.exception.more["found"]), ("in-use", "processes %d" % process.pid)
        )
        process.communicate(b"\n")
        make.remove(self.request(claim=self.claim("venv")))
        self.assertFalse(os.path.exists(self.root))

    def test_no_room_is_said_before_anything_is_copied(self):
        self.addCleanup(setattr, space, "SPARE_BYTES", space.SPARE_BYTES)
        space.SPARE_BYTES = 1 << 60
        fault = self.fault("no-space")
        self.assertEqual(fault.message, "no room for a copy of " + self.venv)
        self.assertFalse(os.path.exists(self.layout.venv("v")))

    @unittest.skipUnless(os.geteuid() == 0, "mounts a small file system")
    def test_a_disk_that_fills_up_is_said_with_its_place_and_leaves_the_old_release(self):
        small = os.path.join(self.top, "small")
        os.makedirs(small)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", small], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", small])
        self.addCleanup(setattr, space, "SPARE_BYTES", space.SPARE_BYTES)
        space.SPARE_BYTES = 0
        self.root = os.path.join(small, "root")
        self.layout = type(self.layout)(self.root)
        made = self.make()
        self.store(os.urandom(3 << 20))
        fault = self.fault("no-space", (), [self.file_patch("pkg/big.py", b"#" + os.urandom(2 << 20).hex().encode())])
        self.assertEqual(self.facts(made["release"])["driftCount"], 0)
        self.assertIn(small, fault.more["where"])
        self.assertEqual([name for name in self.releases() if name.startswith(".")], [])

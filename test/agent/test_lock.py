import os
import re
import subprocess
import sys
import threading
import time
import unittest

from agent.lock import locked
from test.agent.support import RootTest

HOLD = (
    "import sys, time\nfrom agent.lock import locked\nfrom test.agent.support import make_request\n"
    "with locked(make_request(%r), 'building'):\n    print('held', flush=True)\n    sys.stdin.readline()\n"
)


class LockTest(RootTest):
    def hold(self):
        """Another agent that holds the lock until its stdin gets a line or its end."""
        other = subprocess.Popen(
            [sys.executable, "-c", HOLD % self.root], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.addCleanup(other.stdout.close)
        self.addCleanup(other.wait)
        self.addCleanup(other.stdin.close)
        other.stdout.readline()
        return other

    def test_another_agent_is_waited_for_and_then_named(self):
        other = self.hold()
        request = self.request(lockWait=0.5)
        began = time.monotonic()
        fault = self.fault("locked", locked(request, "staging").__enter__)
        self.assertGreaterEqual(time.monotonic() - began, 0.5)
        self.assertEqual(fault.more["where"], self.layout.lock)
        pattern = r"me@control \(pid 7 there, %d here\), building, since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC" % other.pid
        self.assertTrue(re.fullmatch(pattern, fault.more["found"]), fault.more["found"])
        self.assertEqual([said["text"] for said in request.said], ["waiting up to 0 s for " + fault.more["found"]])

    def test_it_is_free_once_the_other_one_is_done_or_dead(self):
        for end in (lambda other: other.stdin.close(), lambda other: other.kill()):
            other = self.hold()
            end(other)
            other.wait()
            with locked(self.request(lockWait=0), "staging"):
                os.makedirs(self.layout.at("store"), exist_ok=True)
        self.assertEqual(os.path.getsize(self.layout.lock), 0)

    def test_a_root_in_which_nothing_came_to_be_is_not_left_behind(self):
        with locked(self.request(), "removing what is gone"):
            pass
        self.assertEqual(os.listdir(self.parent), [])
        os.makedirs(self.root)
        with locked(self.request(), "removing what is gone"):
            pass
        self.assertEqual(os.listdir(self.root), [])

    def test_requests_of_one_agent_take_turns_however_long_it_takes(self):
        order = []

        def work(name):
            with locked(self.request(lockWait=0), name):
                order.append(name)
                time.sleep(0.3)
                order.append(name)

        threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([order[0], order[2], order[4]], [order[1], order[3], order[5]])
        self.assertEqual(sorted(order), list("aabbcc"))

    def test_nested_use_in_one_thread_is_one_hold(self):
        with locked(self.request(), "outer"):
            with locked(self.request(lockWait=0), "inner"):
                pass
            self.assertGreater(os.path.getsize(self.layout.lock), 0)
        with locked(self.request(lockWait=0), "again"):
            pass

    def test_a_cancelled_request_stops_waiting(self):
        self.hold()
        cancelled = threading.Event()
        threading.Timer(0.3, cancelled.set).start()
        began = time.monotonic()
        self.fault("cancelled", locked(self.request(cancelled=cancelled), "staging").__enter__)
        self.assertLess(time.monotonic() - began, 5)

    def test_whoever_waits_while_the_root_is_removed_makes_it_anew(self):
        other = self.hold()
        got = []

        def wait():
            with locked(self.request(), "staging"):
                got.append(os.stat(self.layout.lock).st_ino)

        thread = threading.Thread(target=wait)
        thread.start()
        time.sleep(0.3)
        os.rename(self.root, self.root + ".gone")
        other.stdin.close()
        thread.join(10)
        self.assertEqual(len(got), 1)

    def test_many_who_make_and_remove_the_root_never_trip_over_each_other(self):
        script = (
            "from agent.lock import locked\nfrom test.agent.support import make_request\n"
            "for _ in range(100):\n    with locked(make_request(%r), 'turn'):\n        pass\n" % self.root
        )
        others = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(3)]
        self.assertEqual([other.wait() for other in others], [0, 0, 0])
        self.assertFalse(os.path.exists(self.root))


if __name__ == "__main__":
    unittest.main()

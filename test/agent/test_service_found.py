import os
import signal
import subprocess
import unittest

from agent.request import Request
from agent.service import proc, sockets
from agent.service.held import held
from test.agent.service_case import NEVER, Case
from test.agent.service_host import PYTHON, STANDIN, eventually

TAKE = {"takeOverPort": True}


class AServerThatSomebodyStarted(Case):
    """On the port of the service, by hand: with a log of its own, variables, a working directory and children."""

    def setUp(self):
        super().setUp()
        self.log = os.path.join(self.host.top, "nohup.out")
        self.started = self.by_hand("sglang.launch_server")

    def by_hand(self, module, port=None):
        argv = [PYTHON, "-m", module, "--model-path", self.host.model, "--port", str(port or self.host.port)]
        environ = dict(os.environ, PYTHONPATH=STANDIN, THEIRS="a b\nc")
        with open(self.log, "ab") as out:
            started = subprocess.Popen(
                argv, env=environ, cwd=self.host.top, stdout=out, stderr=out, start_new_session=True
            )
        self.addCleanup(self.end)
        self.addCleanup(started.wait)
        self.addCleanup(started.kill)
        self.assertTrue(eventually(lambda: self.host.text() is not None))
        return started

    def end(self):
        """Whatever was brought back: only what has the variable of these tests and this model."""
        for pid in proc.table():
            if (proc.environ(pid) or {}).get(b"THEIRS") == b"a b\nc" and self.host.model in proc.cmdline(pid):
                os.kill(pid, signal.SIGKILL)

    def held_by(self):
        """Pid, arguments and variable of the hand-started server that runs now."""
        return [
            (proc.cmdline(pid), os.readlink("/proc/%d/cwd" % pid), proc.environ(pid)[b"THEIRS"])
            for pid in proc.table()
            if b"THEIRS" in (proc.environ(pid) or {}) and self.host.model in proc.cmdline(pid) and proc.alive(pid)
        ]

    def test_is_left_alone_unless_that_is_asked_for_and_the_error_says_how(self):
        fault = self.host.fails("r1")
        self.assertEqual(fault.code, "port-taken")
        self.assertIn("pid %d (user " % self.started.pid, fault.message)
        self.assertEqual(
            fault.more["remedy"],
            "set `takeOverPort: true` to have it stopped for this service, and started again if this one fails, or set another `port`",
        )
        self.assertIsNone(self.started.poll())

    def test_is_foreseen_together_with_a_model_that_is_not_there(self):
        def foreseen(**spec):
            wanted = {
                "address": "127.0.0.1",
                "port": self.host.port,
                "takeOverPort": False,
                "modelPath": self.host.model,
            }
            return held(Request({"root": self.host.layout.root, "service": "s", "spec": dict(wanted, **spec)}))

        self.assertEqual(
            foreseen(modelPath="/no/model")["problem"],
            "there is no model /no/model on this host; put it there, or correct the path; and port %d is taken by %s; "
            "set `takeOverPort: true` to have it stopped for this service, and started again if this one fails, or set another `port`"
            % (self.host.port, proc.describe(self.started.pid)),
        )
        self.assertEqual(foreseen(takeOverPort=True), {"problem": None, "takes": proc.describe(self.started.pid)})
        self.started.kill()
        self.started.wait()
        self.assertEqual(foreseen(), {"problem": None, "takes": None})

    def test_makes_room_when_asked_to(self):
        done = self.host.activate("r1", spec=TAKE)
        self.assertTrue(done["restarted"])
        self.assertEqual(self.started.wait(10), 0)
        self.assertIn(
            "stops the server that was found there: pid %d" % self.started.pid,
            " ".join(line["text"] for line in self.host.progress),
        )
        self.assertEqual(self.held_by(), [])
        self.assertFalse(self.host.activate("r1", spec=TAKE)["restarted"])

    def test_comes_back_as_it_was_when_ours_fails(self):
        before = self.held_by()
        self.host.release("r3", start=NEVER)
        fault = self.host.fails("r3", spec=TAKE, ready={"timeout": 4})
        self.assertEqual(
            fault.more["restored"],
            "there was no service before: what was made for it was removed again; the server that was found there runs again and answers",
        )
        self.assertNotEqual(self.started.wait(10), None)
        self.assertEqual(self.held_by(), before)
        self.assertEqual(self.host.text(), "Paris.")
        self.assertFalse(os.path.exists(self.host.place.spec))

    def test_comes_back_after_a_cut_too(self):
        before = self.held_by()
        self.host.release("r3", start=NEVER)
        with self.host.cut("back-found", "end"):
            self.host.fails("r3", spec=TAKE, ready={"timeout": 4})
        self.assertEqual(self.held_by(), before)

    def test_comes_back_beside_the_release_that_served_on_another_port(self):
        self.started.kill()
        self.started.wait()
        old = self.host.activate("r1")["pid"]
        self.host.release("r3", start=NEVER)
        port = self.host.port + 1
        self.by_hand("sglang.launch_server", port)
        before = self.held_by()
        moved = dict(TAKE, port=port, args=["--model-path", self.host.model, "--port", str(port)])
        fault = self.host.fails("r3", spec=moved, ready={"timeout": 4})
        self.assertEqual(
            fault.more["restored"],
            "release r1 runs again and answers; the server that was found there runs again and answers",
        )
        self.assertEqual(self.held_by(), before)
        self.assertNotEqual(self.host.pid(), old)

    def test_that_is_no_sglang_is_never_stopped(self):
        self.started.kill()
        self.started.wait()
        other = subprocess.Popen(
            [PYTHON, "-m", "http.server", "--bind", "127.0.0.1", str(self.host.port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        self.assertTrue(eventually(lambda: self.held(other.pid)))
        fault = self.host.fails("r1", spec=TAKE)
        self.assertEqual(fault.code, "not-takeable")
        self.assertIn("pid %d (user " % other.pid, fault.message)
        self.assertIn("): it is no SGLang server", fault.message)
        self.assertIsNone(other.poll())

    def held(self, pid):
        return pid in sockets.holders("127.0.0.1", self.host.port)[0]

    def test_with_the_drain_hook_is_drained_first_and_undrained_after_the_way_back(self):
        hooks = os.path.join(self.host.top, "hooks")
        drain = {"argv": ["sh", "-c", "echo drain >> %s" % hooks], "undo": ["sh", "-c", "echo undo >> %s" % hooks]}
        self.host.release("r3", start=NEVER)
        self.host.fails("r3", spec=TAKE, ready={"timeout": 4}, drain=drain)
        with open(hooks) as said:
            self.assertEqual(said.read(), "drain\nundo\n")


if __name__ == "__main__":
    unittest.main()

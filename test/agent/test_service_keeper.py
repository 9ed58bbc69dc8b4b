import json
import os
import shutil
import signal
import stat
import sys
import tempfile
import time
import unittest

from agent import bundle
from agent.alone import assembled
from agent.service import proc, process, serverlog
from agent.service.detach import start_detached
from test.agent.service_host import eventually

SERVER = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
sys.stdout.write("up\\n")
sys.stdout.flush()
while True:
    time.sleep(0.05)
"""


class Case(unittest.TestCase):
    """A keeper with a server that only waits, in a directory of its own."""

    def setUp(self):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="keeper-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.log = self.at("logs", "server.log")
        os.makedirs(self.at("venv", "bin"))
        os.symlink(sys.executable, self.at("venv", "bin", "python"))
        self.write("launcher.py", SERVER)
        self.write("spec.json", json.dumps({"log": self.log, "stopTimeout": 5}))
        self.write("keeper.py", self.source())
        self.addCleanup(self.end)

    def source(self):
        text = assembled(process.KEEPER, bundle.source)
        return text.replace("CHECK = 10\n", "CHECK = 0.1\n").replace("LOG_SIZE = 64", "LOG_SIZE = 1")

    def at(self, *parts):
        return os.path.join(self.dir, *parts)

    def write(self, name, text):
        with open(self.at(name), "w") as file:
            file.write(text)

    def start(self):
        argv = [sys.executable, "-I", "-B"]
        argv += [self.at(name) for name in ("keeper.py", "launcher.py", "spec.json", "keeper.json")]
        start_detached(argv, self.at("keeper.log"))
        self.assertTrue(eventually(lambda: os.path.exists(self.log) and os.path.getsize(self.log) > 0))

    def said(self):
        try:
            with open(self.at("keeper.json")) as file:
                return json.load(file)
        except FileNotFoundError:
            return {}

    def state(self):
        return process.state_of(self.said())

    def end(self):
        said = self.said()
        for one in [said.get("keeper"), said.get("main")]:
            if one and proc.alive(*one):
                os.kill(one[0], signal.SIGKILL)

    def restart(self):
        before = self.state()
        os.kill(before.pid, signal.SIGKILL)
        self.assertTrue(eventually(lambda: self.state().phase == "running" and self.state().pid != before.pid))


class AKeeper(Case):
    def test_goes_on_when_its_log_was_removed_and_makes_it_again_with_the_next_start(self):
        self.start()
        shutil.rmtree(self.at("logs"))
        time.sleep(0.5)
        self.assertEqual(self.state().phase, "running")
        self.restart()
        self.assertTrue(eventually(lambda: os.path.exists(self.log)))
        self.assertEqual(stat.S_IMODE(os.stat(self.log).st_mode), 0o600)

    def test_starts_the_server_though_its_log_cannot_be_opened(self):
        self.start()
        os.unlink(self.log)
        os.mkdir(self.log)
        self.restart()
        self.assertEqual(self.state().phase, "running")

    def test_goes_on_when_it_cannot_write_its_state_and_writes_it_later(self):
        self.start()
        os.mkdir(self.at("keeper.json.new"))
        before = self.state()
        os.kill(before.pid, signal.SIGKILL)
        self.assertTrue(eventually(lambda: self.state().phase == "restarting"))
        time.sleep(1.5)
        self.assertEqual(self.said()["main"][0], before.pid)
        os.rmdir(self.at("keeper.json.new"))
        self.assertTrue(eventually(lambda: self.state().phase == "running" and self.state().pid != before.pid))
        self.assertEqual(self.state().restarts, 1)

    def test_ends_its_server_though_the_spec_was_garbled(self):
        self.start()
        self.write("spec.json", "{")
        said = self.said()
        os.kill(said["keeper"][0], signal.SIGTERM)
        self.assertTrue(eventually(lambda: not proc.alive(*said["keeper"])))
        self.assertFalse(proc.alive(*said["main"]))
        self.assertEqual(self.state().phase, "stopped")

    def test_lets_nobody_else_read_the_logs_that_it_puts_aside(self):
        self.start()
        with open(self.log, "ab") as file:
            file.write(b"x" * (1 << 20))
        self.assertTrue(eventually(lambda: os.path.exists(self.log + ".1") and os.path.getsize(self.log) == 0))
        self.assertEqual(stat.S_IMODE(os.stat(self.log + ".1").st_mode), 0o600)

    def test_leaves_no_half_of_a_log_that_it_could_not_put_aside(self):
        os.makedirs(self.log)
        with self.assertRaises(OSError):
            serverlog.copy_private(self.log, self.log + ".1")
        self.assertFalse(os.path.exists(self.log + ".1"))


if __name__ == "__main__":
    unittest.main()

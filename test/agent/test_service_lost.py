"""Files of a service that were taken away or garbled by hand: the server is found all the same, and nothing is left running."""

import os
import shutil
import signal
import unittest
import unittest.mock

from agent.claims import claims
from agent.service import proc
from test.agent.service_host import KIND, ServiceHost, eventually


class Case(unittest.TestCase):
    def setUp(self):
        self.host = ServiceHost()
        self.addCleanup(self.host.end)
        unittest.mock.patch("agent.service.activate.gates").start()
        self.addCleanup(unittest.mock.patch.stopall)
        self.pid = self.host.activate("r1")["pid"]

    def gone(self):
        self.assertEqual(self.host.processes(), [])
        if os.path.isdir(self.host.place.dir):
            self.assertCountEqual(os.listdir(self.host.place.dir), ["env.json", "env-e1.json"])


class ALostSpec(Case):
    def setUp(self):
        super().setUp()
        os.unlink(self.host.place.spec)

    def test_keeps_no_server_from_a_removal(self):
        self.host.remove()
        self.gone()

    def test_keeps_no_port_from_the_next_activation(self):
        self.assertEqual(self.host.look()["running"], "never activated")
        self.assertNotEqual(self.host.activate("r1")["pid"], self.pid)
        self.assertFalse(proc.alive(self.pid))
        self.assertEqual(self.host.look()["running"], "running")


@unittest.skipUnless(KIND == "process", "systemd has no keeper")
class AKeeperWhoseFileIsLost(Case):
    def test_is_found_by_its_command_line_and_writes_it_again(self):
        os.unlink(self.host.place.kept)
        self.assertEqual((self.host.look()["running"], self.host.pid()), ("running", self.pid))
        self.assertEqual(self.host.activate("r1")["restarted"], False)
        self.assertTrue(eventually(lambda: os.path.exists(self.host.place.kept), 15))

    def test_is_found_though_the_file_was_garbled(self):
        for text in ("{", "[]", '{"format": 1, "keeper": "x", "main": 5}'):
            self.host.write(self.host.place.kept, text)
            self.assertEqual((self.host.look()["running"], self.host.pid()), ("running", self.pid))
        self.host.remove()
        self.gone()

    def test_is_ended_by_a_removal_though_the_whole_directory_is_gone(self):
        shutil.rmtree(self.host.place.dir)
        self.host.remove()
        self.gone()

    def test_ends_by_itself_with_its_server_once_the_directory_is_gone(self):
        shutil.rmtree(self.host.place.dir)
        os.kill(self.pid, signal.SIGKILL)
        self.assertTrue(eventually(lambda: self.host.processes() == []))
        self.assertFalse(os.path.exists(self.host.place.dir))


class LostClaims(Case):
    def setUp(self):
        super().setUp()
        os.unlink(self.host.layout.claims)

    def test_keep_nothing_from_a_removal_by_the_owner_that_the_files_name(self):
        self.host.remove()
        self.gone()
        self.assertTrue(os.path.isdir(self.host.layout.venv("v")))

    def test_give_nothing_to_another_owner(self):
        self.host.owner = "owner-2"
        self.host.remove()
        self.assertEqual(self.host.pid(), self.pid)

    def test_come_back_with_the_next_activation(self):
        self.host.activate("r2")
        self.assertEqual(claims(self.host.layout)["service/s"]["owner"], "owner-1")


if __name__ == "__main__":
    unittest.main()

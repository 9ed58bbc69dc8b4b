import os
import signal
import subprocess
import unittest

from agent.service import proc
from test.agent.service_case import Case
from test.agent.service_host import KIND, eventually


class AStop(Case):
    def test_ends_children_that_left_the_group_and_ignore_signals_and_no_foreign_process(self):
        lock = os.path.join(self.host.top, "gpu")
        self.host.variables("e2", {"STANDIN_SETSID_CHILDREN": "1", "STANDIN_GPU_LOCK": lock})
        self.host.activate("r1", env="e2")
        members = self.host.supervisor().members()
        foreign = subprocess.Popen(["bash", "-c", "exec -a sglang::scheduler sleep 60"])
        self.addCleanup(foreign.wait)
        self.addCleanup(foreign.kill)
        self.assertGreaterEqual(len(members), 3)
        self.host.activate("r2", env="e2")
        self.assertEqual([pid for pid in members if proc.alive(pid)], [])
        self.assertIsNone(foreign.poll())
        self.assertEqual(self.host.look()["process"]["release"], "r2")

    def test_after_the_server_was_killed_finds_its_orphans(self):
        lock = os.path.join(self.host.top, "gpu")
        self.host.variables("e2", {"STANDIN_SETSID_CHILDREN": "1", "STANDIN_GPU_LOCK": lock})
        pid = self.host.activate("r1", env="e2")["pid"]
        os.kill(pid, signal.SIGKILL)
        self.assertTrue(eventually(lambda: self.host.pid() not in (None, pid)))
        self.host.activate("r2", env="e2")
        self.assertEqual(self.host.look()["process"]["release"], "r2")

    @unittest.skipUnless(KIND == "process", "systemd has no keeper")
    def test_without_its_keeper_finds_what_is_ours(self):
        self.host.variables("e2", {"STANDIN_SETSID_CHILDREN": "1"})
        self.host.activate("r1", env="e2")
        supervisor = self.host.supervisor()
        members = supervisor.members()
        os.kill(supervisor.said()["keeper"][0], signal.SIGKILL)
        self.assertTrue(eventually(lambda: self.host.look()["running"].startswith("runs, but its keeper is gone")))
        self.assertTrue(self.host.activate("r1", env="e2")["restarted"])
        self.assertEqual([pid for pid in members if proc.alive(pid)], [])

    def test_that_takes_too_long_ends_by_force(self):
        self.host.variables("e2", {"STANDIN_IGNORE_TERM": "1"})
        pid = self.host.activate("r1", env="e2", spec={"stopTimeout": 1})["pid"]
        self.host.activate("r2", env="e2", spec={"stopTimeout": 1})
        self.assertFalse(proc.alive(pid))


class AStoppedService(Case):
    def test_shows_that_its_link_was_moved_and_a_start_puts_it_back(self):
        self.host.activate("r1")
        self.assertTrue(self.host.look()["running"] == "running" and "linkedTo" not in self.host.look())
        link, right = self.host.place.link, os.readlink(self.host.place.link)
        self.host.supervisor().stop(5)
        self.assertIsNone(self.host.look()["linkedTo"])
        os.unlink(link)
        self.assertEqual(self.host.look()["linkedTo"], "nowhere")
        os.symlink(self.host.top, link)
        stands = self.host.look()
        self.assertEqual((stands["process"], stands["linkedTo"]), (None, os.path.realpath(self.host.top)))
        self.assertTrue(self.host.activate("r1")["restarted"])
        self.assertEqual(os.readlink(link), right)


class ARemoval(Case):
    def test_leaves_nothing_and_can_be_done_again(self):
        self.host.variables("e2", {"STANDIN_SETSID_CHILDREN": "1"})
        self.host.activate("r1", env="e2", secrets={"apiKey": "key-12345678"})
        self.host.remove()
        self.assertCountEqual(os.listdir(self.host.place.dir), ["env.json", "env-e2.json"])
        self.assertEqual(self.host.processes(), [])
        self.host.remove()

    def test_speaks_of_a_stop_only_where_a_server_runs(self):
        for running, said in ((True, [{"text": "stops the server"}]), (False, [])):
            self.host.activate("r1")
            if not running:
                self.host.supervisor().stop(10)
            self.host.progress.clear()
            self.host.remove()
            self.assertEqual(self.host.progress, said)

    def test_by_another_owner_removes_nothing(self):
        pid = self.host.activate("r1")["pid"]
        self.host.owner = "owner-2"
        self.host.remove()
        self.assertEqual(self.host.pid(), pid)


if __name__ == "__main__":
    unittest.main()

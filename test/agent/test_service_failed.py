import json
import os
import socket
import threading
import unittest

from agent.claims import claims
from test.agent.service_case import DIES, NEVER, Case
from test.agent.service_host import eventually, in_background


class AFailedActivation(Case):
    def test_that_never_gets_ready_puts_the_old_release_back(self):
        self.host.activate("r1")
        self.host.release("r3", start=NEVER)
        fault = self.host.fails("r3", ready={"timeout": 2})
        self.assertEqual(
            (fault.code, fault.more["stage"], fault.more["restored"]),
            ("not-ready", "wait", "release r1 runs again and answers"),
        )
        self.assertIn("within 2 s", fault.message)
        self.assertIn("Load weight begin", fault.more["detail"])
        self.old_runs()

    def old_runs(self):
        facts = self.host.look()
        self.assertEqual(
            (facts["running"], facts["current"]["release"], facts["process"]["release"]), ("running", "r1", "r1")
        )
        self.assertEqual(facts["activation"]["state"], "rolled-back")
        self.assertEqual(self.host.text(), "Paris.")

    def test_that_dies_within_the_stable_window_puts_the_old_release_back(self):
        self.host.activate("r1")
        self.host.release("r3", start=DIES)
        fault = self.host.fails("r3", ready={"stable": 5})
        self.assertEqual((fault.code, fault.more["stage"]), ("exited", "stable"))
        self.assertRegex(fault.message, r"^the server exited 1 after \d+\.\d s \(it was ready\)$")
        self.old_runs()

    def test_whose_process_exits_at_once_says_how_with_the_log(self):
        self.host.activate("r1")
        self.host.release("r3", start="import sys; print('no such device', file=sys.stderr); sys.exit(3)")
        fault = self.host.fails("r3", gates={"flags": False})
        self.assertEqual((fault.code, fault.more["stage"], fault.more["found"]), ("exited", "wait", "exited 3"))
        self.assertIn("no such device", fault.more["detail"])
        self.old_runs()

    def test_that_was_the_first_leaves_nothing(self):
        self.host.release("r3", start=NEVER)
        fault = self.host.fails("r3", ready={"timeout": 1})
        self.assertEqual(fault.more["restored"], "there was no service before: what was made for it was removed again")
        self.assertCountEqual(os.listdir(self.host.place.dir), ["env.json", "env-e1.json"])
        self.assertEqual(claims(self.host.layout), {})
        self.assertEqual(self.host.processes(), [])

    def test_at_the_gates_leaves_the_old_process_alone(self):
        self.gates.stop()
        pid = self.host.activate("r1")["pid"]
        self.host.release("r3", patch="import no_such_module\n")
        fault = self.host.fails("r3", secrets={"apiKey": "key-12345678"})
        self.assertEqual((fault.code, fault.more["gate"]), ("gate", "imports"))
        self.assertEqual(self.host.pid(), pid)
        self.assertFalse([name for name in os.listdir(self.host.place.dir) if name.startswith("config-")])

    def test_hides_secrets_in_what_it_shows_of_the_log(self):
        self.host.activate("r1")
        self.host.variables("e2", {"HF_TOKEN": "hf_abcdefghijk", "STANDIN_EXIT_AT_START": "1"})
        self.host.release("r3", start="import os, sys; print(os.environ['HF_TOKEN'], 'key-12345678', file=sys.stderr)")
        fault = self.host.fails("r3", env="e2", secrets={"apiKey": "key-12345678"})
        self.assertIn("*** ***", fault.more["detail"])
        self.assertNotRegex(json.dumps(fault.report()), "hf_abcdefghijk|key-12345678")
        self.old_runs()


class APort(Case):
    def test_of_a_foreign_process_is_named_and_nothing_is_stopped(self):
        pid = self.host.activate("r1")["pid"]
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))
            held.listen(1)
            port = held.getsockname()[1]
            fault = self.host.fails(
                "r1", spec={"port": port, "args": ["--model-path", self.host.model, "--port", str(port)]}
            )
        self.assertEqual(fault.code, "port-taken")
        self.assertIn("port %d is taken by pid %d (user " % (port, os.getpid()), fault.message)
        self.assertEqual(self.host.pid(), pid)

    def test_and_a_missing_model_are_said_together(self):
        with socket.socket() as held:
            held.bind(("127.0.0.1", self.host.port))
            held.listen(1)
            fault = self.host.fails("r1", spec={"modelPath": "/no/such/model"})
        self.assertEqual(fault.code, "preflight")
        self.assertIn("port %d is taken" % self.host.port, fault.message)
        self.assertIn("there is no model /no/such/model on this host", fault.message)


class ADrain(Case):
    def hook(self, name, code=""):
        return ["sh", "-c", "echo %s >> %s; %s" % (name, self.log(), code)]

    def log(self):
        return os.path.join(self.host.top, "hooks")

    def said(self):
        with open(self.log()) as file:
            return file.read().split()

    def test_is_run_before_the_stop_and_not_undone_after_success(self):
        self.host.activate("r1")
        self.host.activate("r2", drain={"argv": self.hook("drain"), "undo": self.hook("undo"), "timeout": 5})
        self.assertEqual(self.said(), ["drain"])

    def test_that_fails_is_undone_and_nothing_is_stopped(self):
        pid = self.host.activate("r1")["pid"]
        drain = {"argv": self.hook("drain", "echo busy; exit 4"), "undo": self.hook("undo"), "timeout": 5}
        fault = self.host.fails("r2", drain=drain)
        self.assertEqual((fault.code, fault.more["stage"], fault.more["detail"]), ("hook-failed", "drain", "busy"))
        self.assertEqual(fault.more["restored"], "nothing was stopped: what ran before still runs")
        self.assertEqual(self.said(), ["drain", "undo"])
        self.assertEqual(self.host.pid(), pid)

    def test_that_does_not_end_is_ended(self):
        self.host.activate("r1")
        fault = self.host.fails("r2", drain={"argv": ["sleep", "60"], "undo": self.hook("undo"), "timeout": 0.5})
        self.assertIn("did not end within 0.5 s", fault.message)
        self.assertEqual(self.said(), ["undo"])

    def test_is_undone_after_a_way_back(self):
        self.host.activate("r1")
        self.host.release("r3", start=NEVER)
        self.host.fails(
            "r3", ready={"timeout": 1}, drain={"argv": self.hook("drain"), "undo": self.hook("undo"), "timeout": 5}
        )
        self.assertEqual(self.said(), ["drain", "undo"])

    def test_is_ended_and_undone_by_a_cancel(self):
        pid = self.host.activate("r1")["pid"]
        cancelled = threading.Event()
        drain = {"argv": self.hook("drain", "sleep 60"), "undo": self.hook("undo"), "timeout": 60}
        thread, outcome = in_background(lambda: self.host.activate("r2", cancelled=cancelled, drain=drain))
        self.assertTrue(eventually(lambda: os.path.exists(self.log())))
        cancelled.set()
        thread.join(20)
        self.assertEqual((outcome[0].code, outcome[0].more["stage"]), ("cancelled", "drain"))
        self.assertEqual(self.said(), ["drain", "undo"])
        self.assertEqual(self.host.pid(), pid)


if __name__ == "__main__":
    unittest.main()

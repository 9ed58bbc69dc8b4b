"""What stands beside a server that runs: its own programs, what the gates passed, and whether its files are there at all."""

import json
import os
import shutil
import unittest

from agent import look
from agent.request import Request
from agent.service import proc
from test.agent.service_case import NEVER
from test.agent.service_host import KIND, ServiceHost


class Case(unittest.TestCase):
    def setUp(self):
        self.host = ServiceHost()
        self.addCleanup(self.host.end)
        self.pid = self.host.activate("r1")["pid"]


class ItsOwnPrograms(Case):
    def test_show_when_they_were_edited_or_removed_and_are_put_right_without_a_restart(self):
        self.assertEqual(self.host.look()["altered"], [])
        self.host.write(self.host.place.launcher, "import sys\n")
        expected = ["launcher.py edited on the host"]
        if KIND == "process":
            os.unlink(self.host.place.keeper)
            expected.insert(0, "keeper.py missing")
        self.assertEqual(self.host.look()["altered"], expected)
        done = self.host.activate("r1")
        self.assertEqual((done["restarted"], done["pid"]), (False, self.pid))
        self.assertEqual(self.host.look()["altered"], [])

    def test_the_spec_of_the_launcher_is_among_them_and_nothing_false_is_said_of_the_process(self):
        with open(self.host.place.spec) as file:
            spec = json.load(file)
        spec["argv"][-1] = "1"
        spec["environ"]["MORE"] = "1"
        self.host.write(self.host.place.spec, json.dumps(spec))
        facts = self.host.look()
        self.assertEqual(facts["altered"], ["spec.json edited on the host"])
        self.assertEqual((facts["process"]["argsMatch"], facts["process"]["envDiffers"]), (True, []))
        done = self.host.activate("r1")
        self.assertEqual((done["restarted"], done["pid"]), (False, self.pid))
        self.assertEqual(self.host.look()["altered"], [])

    def test_are_not_judged_where_an_older_version_wrote_them(self):
        with open(self.host.place.current) as file:
            current = json.load(file)
        del current["written"], current["passed"]
        self.host.write(self.host.place.current, json.dumps(current))
        self.host.write(self.host.place.launcher, "import sys\n")
        facts = self.host.look()
        self.assertEqual((facts["altered"], facts["current"]["passed"]), ([], None))


class OtherChecks(Case):
    def test_that_only_warned_are_told_of_when_the_server_then_fails(self):
        self.host.release("r3", start=NEVER)
        self.host.variables("e3", {"SGLANG_USE_CPU_ENGIN": "1"})
        fault = self.host.fails("r3", env="e3", ready={"timeout": 2})
        self.assertEqual(fault.code, "not-ready")
        self.assertEqual(len(fault.more["warnings"]), 1)
        self.assertIn("SGLANG_USE_CPU_ENGIN is read nowhere in this sglang", fault.more["warnings"][0])

    def test_are_made_though_nothing_else_changed_and_a_failing_one_leaves_the_server_alone(self):
        passed = {"imports": [], "asserts": [], "flags": True}
        self.assertEqual(self.host.look()["current"]["passed"], passed)
        fault = self.host.fails("r1", gates={"asserts": ["1 == 2"]})
        self.assertEqual((fault.code, fault.more["gate"]), ("gate", "asserts"))
        self.assertEqual((self.host.look()["current"]["passed"], self.host.pid()), (passed, self.pid))
        done = self.host.activate("r1", gates={"asserts": ["1 == 1"]})
        self.assertEqual((done["restarted"], done["pid"]), (False, self.pid))
        self.assertEqual(self.host.look()["current"]["passed"], dict(passed, asserts=["1 == 1"]))

    def test_are_not_made_again_once_they_have_passed(self):
        report = self.host.place.gates + ".json"
        before = os.stat(report).st_mtime_ns
        self.assertEqual((self.host.activate("r1")["restarted"], os.stat(report).st_mtime_ns), (False, before))


class FilesThatAreGone(Case):
    def seen(self):
        return look.look(Request({"root": self.host.layout.root}))["services"]

    def test_are_said_of_a_server_that_goes_on_and_a_removal_ends_it(self):
        shutil.rmtree(self.host.layout.root)
        self.assertEqual(
            {name: (one["owner"], one["running"], one["current"]) for name, one in self.seen().items()},
            {"s": ("", "runs, though its files are gone", None)},
        )
        self.host.remove()
        self.assertEqual((self.host.processes(), proc.alive(self.pid), self.seen()), ([], False, {}))
        self.assertFalse(os.path.exists(self.host.layout.root))

    def test_do_not_hide_it_when_only_its_own_folder_went(self):
        os.makedirs(self.host.layout.service("other"))
        shutil.rmtree(self.host.place.dir)
        self.assertEqual(self.seen()["s"]["running"], "runs, though its files are gone")
        self.host.remove()
        self.assertEqual(self.host.processes(), [])


if __name__ == "__main__":
    unittest.main()

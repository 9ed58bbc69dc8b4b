import json
import os
import shutil
import stat
import subprocess
import time
import unittest

from agent.files import write_json
from agent.request import Request
from agent.service import check
from test.agent.libraries import GCC, NO_GCC, library, made_facts, named
from test.agent.service_host import ServiceHost

BASE = "base-b"


@unittest.skipUnless(GCC, NO_GCC)
class Foreseen(unittest.TestCase):
    def setUp(self):
        self.host = ServiceHost()
        self.addCleanup(self.host.close)
        self.release = self.host.layout.release("v", "r1")
        subprocess.check_call(["cp", "-al", self.release, self.host.layout.venv("v", BASE)])
        folder = os.path.join(self.host.top, "gone")
        site = os.path.join(self.release, "lib", os.listdir(os.path.join(self.release, "lib"))[0], "site-packages")
        library(os.path.join(site, "kernels", "_k.abi3.so"), needed=[named(folder, "libgone.so.1")])
        shutil.rmtree(folder)
        write_json(
            self.release + ".json",
            dict(made_facts(os.path.relpath(site, self.release)), base=BASE, laid={"kernels": "1.0"}),
        )

    def test_what_is_on_the_host_already_is_judged_and_nothing_is_written(self):
        def files():
            return sorted((folder, sorted(names)) for folder, _folders, names in os.walk(self.host.top))

        before = files()
        told = check.check(Request(self.host.args()))
        self.assertEqual(files(), before)
        self.assertEqual(
            [(one["gate"], one["ok"]) for one in told["gates"]],
            [("libraries", False), ("cuda", True), ("versions", True)],
        )
        self.assertIn("kernels/_k.abi3.so wants libgone.so.1, which the loader finds nowhere", told["table"][1])

    def test_flags_and_variables_that_the_sources_do_not_know_are_told_with_the_nearest(self):
        self.host.variables("e2", {"SGLANG_NO_SUCH_NAME": "1"})
        args = self.host.args(env="e2")
        args["spec"]["args"] = args["spec"]["args"] + ["--tp-sise", "2"]
        told = {one["gate"]: one for one in check.check(Request(args))["gates"]}
        self.assertEqual(
            [told["flags"]["warnings"], told["environment"]["warnings"]],
            [
                ["--tp-sise is not a flag of this version; nearest: --tp-size"],
                ["SGLANG_NO_SUCH_NAME is read nowhere in this sglang"],
            ],
        )
        self.assertTrue(told["flags"]["ok"] and told["environment"]["ok"])

    def test_a_candidate_that_a_static_gate_refuses_never_starts_and_the_first_one_leaves_nothing(self):
        fault = self.host.fails("r1")
        self.assertEqual((fault.code, fault.more["gate"]), ("gate", "libraries"))
        self.assertIn("does not pass (libraries); nothing was started\n", fault.message)
        self.assertIn("libraries    failed", fault.more["detail"])
        self.assertFalse(os.path.exists(self.host.place.gates + ".txt"))

    def test_the_table_of_the_last_candidate_stays_beside_the_service(self):
        self.host.activate("r2")
        pid = self.host.pid()
        fault = self.host.fails("r1")
        self.assertIn("does not pass (libraries); what runs was left alone\n", fault.message)
        self.assertEqual(self.host.pid(), pid)
        with open(self.host.place.gates + ".txt") as file:
            lines = file.read().splitlines()
        self.assertTrue(lines[0].startswith("release %s, 20" % self.release))
        self.assertEqual(lines[2].split(), ["gate", "result", "seconds", "cause"])
        self.assertEqual(lines[3].split()[:2], ["libraries", "failed"])
        self.assertEqual(stat.S_IMODE(os.stat(self.host.place.gates + ".txt").st_mode), 0o600)
        refused = self.host.look()["refused"]
        self.assertAlmostEqual(refused.pop("checked"), time.time(), delta=60)
        self.assertEqual(
            refused,
            {
                "release": "r1",
                "args": ["--model-path", self.host.model, "--port", str(self.host.port)],
                "gate": "libraries",
                "text": "kernels/_k.abi3.so wants libgone.so.1, which the loader finds nowhere",
                "more": 0,
            },
        )
        with open(self.host.place.gates + ".json") as file:
            self.assertEqual([one["gate"] for one in json.load(file)["gates"] if not one["ok"]], ["libraries"])
        self.host.variables("e2", {"A": "1"})
        self.host.activate("r2", env="e2")
        self.assertIsNone(self.host.look()["refused"])

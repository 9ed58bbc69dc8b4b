import json
import os
import subprocess
import sys
import textwrap
import unittest

from agent import bundle
from test.agent.candidate import Candidate


class Interpreter(unittest.TestCase):
    def setUp(self):
        self.candidate = Candidate()
        self.addCleanup(self.candidate.remove)

    def test_the_interpreter_of_another_place_is_the_wrong_one(self):
        told = self.candidate.problems(python=os.path.realpath(sys.executable))
        self.assertEqual(len(told), 1)
        self.assertIn(
            "interpreter: the interpreter was the wrong one: %s runs with prefix " % os.path.realpath(sys.executable),
            told[0],
        )
        self.assertIn(", expected TOP/release", told[0])

    def test_the_release_through_its_stable_link_is_the_right_one(self):
        link = os.path.join(self.candidate.top, "venv")
        os.symlink(self.candidate.release, link)
        self.candidate.check(python=link + "/bin/python", patched=[self.candidate.patched("tinyserve.server_args")])

    def test_a_link_that_leads_nowhere_is_told_with_its_target(self):
        os.remove(self.candidate.python)
        os.symlink("/nowhere/python3.11", self.candidate.python)
        self.assertEqual(
            self.candidate.problems(),
            ["interpreter: TOP/release/bin/python is a link to /nowhere/python3.11, which is not there"],
        )

    def test_site_packages_of_another_version_are_told(self):
        site = self.candidate.make_directory("release", "lib", "python3.6", "site-packages")
        told = self.candidate.problems(site=site)
        self.assertIn(
            "the interpreter was the wrong one: TOP/release/bin/python is Python %d.%d, " % sys.version_info[:2],
            told[0],
        )

    def test_an_interpreter_that_does_not_start_shows_what_it_said(self):
        fault = self.candidate.fault(env={"PYTHONHOME": "/nowhere"})
        self.assertEqual((fault.code, fault.more["gate"]), ("gate", "interpreter"))
        self.assertIn("the interpreter did not start (exit 1)", fault.message)
        self.assertIn("No module named 'encodings'", fault.more["detail"])

    @unittest.skipUnless(os.getuid() == 0, "only root can be another user")
    def test_a_user_who_may_not_enter_the_release_is_told_where_it_ends(self):
        os.chmod(self.candidate.release, 0o700)
        told = self.candidate.problems(user="nobody")
        self.assertEqual(
            told,
            [
                "interpreter: TOP/release/bin/python cannot be run in TOP/work as the service would: exec TOP/release/bin/python: Permission denied as this user, who may not enter TOP/release"
            ],
        )

    def test_a_limit_that_cannot_be_set_is_told(self):
        told = self.candidate.problems(limits={"nofile": "999999999"})
        self.assertIn("as the service would: limit nofile=999999999: ", told[0])

    def test_a_working_directory_that_is_not_there_is_told(self):
        told = self.candidate.problems(cwd="/nowhere")
        self.assertEqual(
            told,
            [
                "interpreter: TOP/release/bin/python cannot be run in /nowhere as the service would: directory /nowhere: No such file or directory"
            ],
        )

    def test_an_agent_that_came_through_a_pipe_has_the_gates_with_it(self):
        text = """
            import json, sys
            given, wish = json.load(sys.stdin)
            finder = {}
            exec(given["agent.bundle"], finder)
            bundle = finder["Bundle"](given)
            sys.meta_path.insert(0, bundle)
            import agent
            agent.__bundle__ = bundle
            from agent.gates import service
            from agent.request import Request
            print(len(service.check(Request({"root": "/nowhere"}), wish)["gates"]))
        """
        told = json.dumps([bundle.sources(), self.candidate.wish()]).encode()
        command = [sys.executable, "-B", "-I", "-c", textwrap.dedent(text)]
        self.assertEqual(subprocess.run(command, input=told, stdout=subprocess.PIPE, cwd="/").stdout, b"10\n")

    def test_all_problems_of_later_gates_come_in_one_report(self):
        fault = self.candidate.fault(asserts=["False"], args=["--prt", "1"], env={"SGLANG_X": "1"})
        self.assertEqual(
            fault.message,
            "the candidate does not pass (3 problems: asserts, flags); what runs was left alone\n"
            "gate asserts: False is false: False\ngate flags: --prt is not a flag of this version; nearest: --port\ngate flags: --model-path is required",
        )
        self.assertEqual(fault.more["gate"], "asserts")

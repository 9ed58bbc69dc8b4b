import os
import signal
import subprocess
import unittest

from agent.request import Request
from agent.service import proc, sockets
from agent.service.found import main_of, names_sglang, run_by_python
from agent.service.held import held
from test.agent.service_case import Case
from test.agent.service_host import KIND, PYTHON, STANDIN, ServiceHost, eventually

TAKE = {"takeOverPort": True}
KEY = "hunter2hunter2"


class WhatHoldsThePort(Case):
    """And is no server that a hand started, though it looks like one: it runs in a venv that is called after SGLang."""

    def setUp(self):
        super().setUp()
        folder = os.path.join(self.host.top, "venv_sglang211", "bin")
        os.makedirs(folder)
        self.python = os.path.join(folder, "python")
        os.symlink(PYTHON, self.python)
        self.server = [self.python, "-m", "sglang.launch_server", "--model-path", self.host.model]
        self.server += ["--port", str(self.host.port)]

    def runs(self, argv):
        """It, once somebody listens on the port; it and what it started is ended with the test."""
        environ = dict(os.environ, PYTHONPATH=STANDIN)
        quiet = subprocess.DEVNULL
        started = subprocess.Popen(argv, env=environ, stdout=quiet, stderr=quiet, start_new_session=True)
        self.addCleanup(started.wait)
        self.addCleanup(os.killpg, started.pid, signal.SIGKILL)
        self.assertTrue(eventually(self.holders))
        return started

    def holders(self):
        return sockets.holders("127.0.0.1", self.host.port)[0]

    def foreseen(self):
        spec = {"address": "127.0.0.1", "port": self.host.port, "modelPath": None, "takeOverPort": True}
        return held(Request({"root": self.host.layout.root, "service": "s", "spec": spec}))

    def test_in_a_venv_of_that_name_is_no_server_for_it(self):
        other = self.runs([self.python, "-m", "http.server", "--bind", "127.0.0.1", str(self.host.port)])
        fault = self.host.fails("r1", spec=TAKE)
        self.assertEqual((fault.code, fault.more["found"]), ("not-takeable", "it is no SGLang server"))
        self.assertIsNone(other.poll())

    def test_is_the_server_and_not_the_notebook_that_it_was_started_from(self):
        notebook = os.path.join(self.host.top, "notebook.py")
        with open(notebook, "w") as file:
            file.write("import subprocess, sys, time\nsubprocess.Popen(sys.argv[1:]).wait()\ntime.sleep(100)\n")
        above = self.runs([self.python, notebook] + self.server)
        [server] = self.holders()
        self.assertEqual(main_of(server), server)
        self.host.activate("r1", spec=TAKE)
        self.assertFalse(proc.alive(server))
        self.assertIsNone(above.poll())

    @unittest.skipIf(KIND == "systemd", "a unit is refused as a unit")
    def test_is_not_taken_from_the_service_of_another_root_and_not_offered_either(self):
        twin = ServiceHost()
        self.addCleanup(twin.close)
        twin.port = self.host.port
        server = twin.activate("r1")["pid"]
        said = "it is the service `s` of %s: remove it, or move it, in the stack that has it" % twin.layout.root
        fault = self.host.fails("r1", spec=TAKE)
        self.assertEqual((fault.code, fault.more["found"]), ("not-takeable", said))
        self.assertEqual(
            self.host.fails("r1").more["remedy"],
            "that is service `s` of %s: change its port, or remove it, in the stack that has it" % twin.layout.root,
        )
        self.assertEqual(twin.pid(), server)

    def test_is_named_without_the_keys_among_its_arguments(self):
        self.runs(self.server[:3] + ["--api-key", KEY, "--admin-api-key=" + KEY] + self.server[3:])
        told = str(self.foreseen()) + str(self.host.fails("r1").report())
        self.assertIn("-m sglang.launch_server --api-key *** --admin-api-key=*** --model-path", told)
        self.assertNotIn(KEY, told)


class WhatAnInterpreterRuns(unittest.TestCase):
    def test_is_its_module_its_code_or_its_script(self):
        for words, runs in (
            (["-m", "sglang.launch_server", "--port", "1"], ["sglang"]),
            (["-Im", "sglang_router.launch_server"], ["sglang_router"]),
            (["-X", "dev", "-Wignore", "-u", "-msglang.launch_server"], ["sglang"]),
            (["-W", "sglang", "/v/bin/sglang", "serve"], ["sglang"]),
            (["/src/python/sglang/launch_server.py"], ["sglang"]),
            (["/root/sglang/.venv/bin/jupyter-lab"], ["jupyter-lab"]),
            (["-m", "vllm.entrypoints", "--model", "/data/sglang/m"], ["vllm"]),
            (["-c", "import sglang"], ["import sglang"]),
            (["-"], ["-"]),
            (["-u"], []),
            (["--help-all"], []),
            ([], []),
        ):
            self.assertEqual((words, run_by_python(words)), (words, runs))

    def test_of_a_process_that_is_gone_is_nothing(self):
        self.assertFalse(names_sglang(0))


if __name__ == "__main__":
    unittest.main()

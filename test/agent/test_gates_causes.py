import os
import time
import unittest

from agent.fault import Fault
from agent.request import Request
from test.agent.candidate import SIBLING, Candidate, of_everybody

PYTHON = of_everybody()


class Causes(unittest.TestCase):
    """Imports that fail otherwise than by a missing module, and interpreters that end."""

    def setUp(self):
        self.candidate = Candidate()
        self.addCleanup(self.candidate.remove)

    def test_a_kernel_for_another_torch_names_both_versions_and_the_symbol(self):
        self.candidate.write("torch/__init__.py", "__version__ = '2.11.0+cu130'\n")
        self.candidate.distribution("torch", "2.11.0+cu130")
        self.candidate.write(
            "sgl_kernel/__init__.py",
            """
            import torch
            if not torch.__version__.startswith("2.9."):
                raise ImportError("/x/sgl_kernel/common_ops.abi3.so: undefined symbol: _ZN3c104cuda9SetDeviceEab")
        """,
        )
        self.candidate.distribution("sgl-kernel", "0.3.16", "torch==2.9.1")
        told = self.candidate.problems(imports=["sgl_kernel"])
        self.assertEqual(len(told), 1)
        self.assertIn("undefined symbol: _ZN3c104cuda9SetDeviceEab", told[0])
        self.assertIn(
            "sgl-kernel 0.3.16 was built for another torch (it requires torch==2.9.1); torch here is 2.11.0+cu130",
            told[0],
        )

    def test_a_sibling_whose_operators_are_for_another_torch_names_both_versions_and_passes_once_it_is_of_this_torch(
        self,
    ):
        self.candidate.write("torch/__init__.py", "__version__ = '2.11.0+cu130'\n")
        self.candidate.distribution("torch", "2.11.0+cu130")
        self.candidate.write("torchvision/__init__.py", SIBLING % "2.9.1")
        self.candidate.distribution("torchvision", "0.24.1", "torch==2.9.1")
        self.candidate.write("tinyserve/launch.py", "import torchvision\n")
        self.assertEqual(
            self.candidate.problems(),
            [
                "imports: torchvision/__init__.py:4: RuntimeError: operator torchvision::nms does not exist "
                "(raise RuntimeError('operator torchvision::nms does not exist')); torchvision 0.24.1 was built for another torch "
                "(it requires torch==2.9.1); torch here is 2.11.0+cu130"
            ],
        )
        self.candidate.write("torchvision/__init__.py", SIBLING % "2.11.0")
        self.assertTrue(all(gate["ok"] for gate in self.candidate.check()["gates"]))

    def test_a_library_that_is_not_found_is_told_with_the_search_path_and_what_is_there(self):
        self.candidate.write("nvidia/cu13/lib/libcudart.so.13", "")
        self.candidate.write(
            "sgl_kernel/__init__.py",
            'raise ImportError("libcudart.so.12: cannot open shared object file: No such file or directory")\n',
        )
        told = self.candidate.problems(imports=["sgl_kernel"])
        self.assertIn(
            "libcudart.so.12 is not found (LD_LIBRARY_PATH is not set); the candidate has TOP/release/lib/", told[0]
        )

    def test_a_variable_that_only_a_login_shell_sets_is_named_with_the_user(self):
        self.candidate.write(
            "tinyserve/launch.py", "import os\ncache = os.path.join(os.environ['XDG_CACHE_HOME'], 'x')\n"
        )
        told = self.candidate.problems()
        self.assertIn(
            "the environment variable XDG_CACHE_HOME is not set in the service's environment (uid %d)" % os.getuid(),
            told[0],
        )

    @unittest.skipUnless(PYTHON, "needs root and a Python that every user may run")
    def test_a_user_without_a_passwd_entry_fails_here_and_not_after_the_switch(self):
        candidate = Candidate(PYTHON)
        self.addCleanup(candidate.remove)
        candidate.write("tinyserve/launch.py", "import getpass\nname = getpass.getuser()\n")
        told = candidate.problems(user="54321", group="54321")
        self.assertIn("uid 54321 has no passwd entry: set USER and HOME in the service's environment", told[0])

    def test_a_module_that_leaves_the_process_is_told_with_its_exit_code(self):
        self.candidate.write("tinyserve/launch.py", "import sys\nsys.exit(3)\n")
        self.assertEqual(
            self.candidate.problems(),
            ["imports: tinyserve/launch.py:2: it called sys.exit(3) while it was imported (sys.exit(3))"],
        )

    def test_a_module_that_crashes_the_interpreter_is_told_with_the_signal_and_the_place(self):
        self.candidate.write("tinyserve/launch.py", "import os\nos.abort()\n")
        fault = self.candidate.fault()
        self.assertEqual(fault.more["gate"], "imports")
        self.assertEqual(
            fault.more["problems"][0]["text"], "the interpreter died of SIGABRT at tinyserve.launch_server"
        )
        self.assertIn('tinyserve/launch.py", line 2', fault.more["detail"])

    def test_an_import_that_hangs_is_ended_with_all_that_it_started(self):
        note = os.path.join(self.candidate.top, "pid")
        self.candidate.write(
            "tinyserve/launch.py",
            """
            import subprocess, time
            child = subprocess.Popen(["sleep", "300"], start_new_session=True)
            open(%r, "w").write(str(child.pid))
            time.sleep(300)
        """
            % note,
        )
        fault = self.candidate.fault(timeout=1.5)
        self.assertEqual(
            fault.more["problems"][0]["text"],
            "timed out after the 1.5 s that the gates may take: importing tinyserve.launch_server, at tinyserve/launch.py:5 (<module>)",
        )
        self.assertEqual(
            fault.more["remedy"],
            "raise `checks.timeout` of the service (now 1.5 s) if it only needs longer, else find what is waited for",
        )
        self.assertIn('tinyserve/launch_server.py", line 1 in <module>', fault.more["detail"])
        with open(note) as file:
            self.assertFalse(os.path.exists("/proc/" + file.read()))

    def test_a_request_that_is_given_up_ends_the_probe_at_once(self):
        self.candidate.write("tinyserve/launch.py", "import time\ntime.sleep(300)\n")
        started = time.monotonic()

        class GivenUp(Request):
            def cancelled(self):
                return time.monotonic() > started + 0.5

        with self.assertRaises(Fault) as caught:
            self.candidate.check(request=GivenUp({"root": self.candidate.top}))
        self.assertEqual(caught.exception.code, "cancelled")
        self.assertLess(time.monotonic() - started, 5)

    def test_what_a_module_prints_is_noise(self):
        self.candidate.write(
            "tinyserve/launch.py",
            "import sys\nprint('{\"gate\": \"imports\"}' * 100000)\nprint('FutureWarning', file=sys.stderr)\n",
        )
        self.assertTrue(all(gate["ok"] for gate in self.candidate.check()["gates"]))

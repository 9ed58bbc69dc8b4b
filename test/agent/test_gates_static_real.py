import os
import resource
import time
import unittest

from agent.gates.static import gate, owners
from agent.gates.static.changes import Changes
from agent.gates.static.tree import tree_of
from agent.venv import interpreter
from test.agent.maps import predicted, replay, traced

VENV = os.path.realpath(os.environ.get("SGLANG_TEST_VENV", "/nowhere"))
MORE = (
    "import torch, torchvision, numpy, transformers, zmq, PIL._imaging, PIL._imagingft, sentencepiece, xgrammar, triton"
)


@unittest.skipUnless(os.environ.get("SGLANG_TEST_VENV"), "SGLANG_TEST_VENV names no venv with SGLang")
class RealVenv(unittest.TestCase):
    """Against the loader itself: every library that a real process has mapped, and no other."""

    def tree(self, **env):
        self.site = interpreter.site_packages(VENV)
        candidate = {"release": VENV, "env": dict({"PATH": "/usr/bin:/bin", "HOME": "/root"}, **env), "cwd": "/"}
        return tree_of(VENV, self.site, os.path.join(VENV, "bin", "python"), candidate, Changes(VENV).libraries)

    def agrees(self, code, **env):
        tree = self.tree(**env)
        start = tree_of(
            VENV, "/nowhere", tree.python, {"release": VENV, "env": tree.environment, "cwd": "/"}, [], tree.system
        )
        mapped, opened = traced(tree.python, code, tree.environment)
        process, refused = replay(start.process, opened)
        self.assertEqual(sorted(predicted(process) ^ mapped), [])
        self.assertEqual(sorted(predicted(tree.process) - mapped), [])
        ours = {path for path in mapped if "/torch/" in path or "/nvidia/" in path}
        self.assertLessEqual(ours, predicted(tree.process))
        print(
            "  %d dlopens, %d objects mapped, %d of them before any of the rest by `import torch`: all as predicted; refused: %s"
            % (len(opened), len(mapped), len(predicted(tree.process)), ", ".join(refused) or "none")
        )
        return refused

    def test_importing_torch_maps_what_is_predicted(self):
        self.agrees("import torch")

    def test_importing_what_a_server_imports_maps_what_is_predicted(self):
        self.agrees(MORE)

    def test_it_does_so_with_a_library_path_that_shadows(self):
        site = interpreter.site_packages(VENV)
        system = "/usr/lib/%s-linux-gnu" % os.uname().machine
        self.agrees("import torch", LD_LIBRARY_PATH="%s/nvidia/cu13/lib:%s:" % (site, system))

    def test_were_all_of_it_new_it_would_pass_in_five_seconds(self):
        class Everything(Changes):
            def __init__(self, release):
                Changes.__init__(self, release)
                self.changed, self.known = set(self.libraries), True
                self.laid = {
                    dist.name: dist.version for dist in owners.Owners(interpreter.site_packages(release)).installed
                }

        kept, gate.Changes = gate.Changes, Everything
        self.addCleanup(setattr, gate, "Changes", kept)
        started, used = time.monotonic(), time.process_time()
        results = gate.check(
            {
                "release": VENV,
                "site": interpreter.site_packages(VENV),
                "python": os.path.join(VENV, "bin", "python"),
                "env": {"PATH": "/usr/bin:/bin"},
                "cwd": "/",
            }
        )
        seconds, used = time.monotonic() - started, time.process_time() - used
        for one in results:
            print("  gate %(gate)s: %(seconds).2f s %(note)s" % one)
        print(
            "  %.2f s, %.2f s of a core, %d MiB"
            % (seconds, used, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
        )
        self.assertEqual([problem for one in results for problem in one["problems"]], [])
        # Of a core, for others may share this machine.
        self.assertLess(used, 5)

"""A make that is killed at any moment: the next one ends whole, and nothing else is left."""

import os
import signal
import time

from agent.venv import look, make
from test.agent.place import PlaceTest, identity, install, python


class Cut(PlaceTest):
    def test_a_run_that_is_killed_leaves_what_the_next_one_makes_whole(self):
        install(
            self.site,
            "pkg",
            "1.0",
            {"pkg/__init__.py": "", **{"pkg/m%d.py" % number: "x = 1\n" * 50 for number in range(300)}},
        )
        overlay = self.wheel_overlay("other", "1", {"other/m%d.py" % number: "y = 1\n" for number in range(100)})
        patch = self.file_patch("pkg/m1.py", "x = 2\n")
        before = identity(self.venv)
        began = time.monotonic()
        self.make([overlay], [patch])
        took = time.monotonic() - began
        make.remove(self.request(claim=self.claim("venv")))
        for part in range(1, 10):
            child = os.fork()
            if child == 0:
                try:
                    self.make([overlay], [patch])
                finally:
                    os._exit(0)
            time.sleep(took * part / 10)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            if part % 3 == 0:
                made = self.make([overlay], [patch])
                facts = look.venvs(self.layout)[0]["v"]
                self.assertEqual(facts["release"], made["release"])
                self.assertEqual(facts["releases"][made["release"]]["driftCount"], 0)
                self.assertEqual(python(made["path"], "import pkg.m1, other.m1; print(pkg.m1.x + other.m1.y)"), "3")
                self.assertEqual(
                    sorted(os.listdir(self.layout.venv("v", "releases"))),
                    [made["release"] + ending for ending in ("", ".json", ".manifest", ".stamps", ".sums", ".watched")],
                )
                self.assertEqual([name for name in os.listdir(self.layout.venv("v")) if name.startswith(".")], [])
                make.remove(self.request(claim=self.claim("venv")))
        self.assertEqual(identity(self.venv), before)

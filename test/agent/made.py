"""A test case whose releases are made of an adopted venv with one package `pkg`."""

import os

from agent.venv import look
from test.agent.place import PlaceTest, install, python, write

OLD = "x = 1\n\n\ndef f():\n    return x\n"


class MadeTest(PlaceTest):
    def setUp(self):
        super().setUp()
        install(
            self.site,
            "pkg",
            "1.0",
            {"pkg/__init__.py": "", "pkg/mod.py": OLD},
            entry_points={"pkg-where": "pkg.where:main"},
        )
        write(os.path.join(self.site, "pkg", "where.py"), "import sys\ndef main():\n    print(sys.prefix)\n")
        python(self.venv, "import pkg.mod")

    def releases(self):
        folder = self.layout.venv("v", "releases")
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []

    def facts(self, release):
        return look.venvs(self.layout)[0]["v"]["releases"][release]

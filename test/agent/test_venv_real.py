"""The same on a real SGLang venv, with the time that it takes: set SGLANG_TEST_VENV to one. It is copied, so it needs its size on disk."""

import os
import shutil
import sys
import tempfile
import time
import unittest

from agent.gates import consistency, pep440
from agent.venv import adopted, bytecode, clone, dists, fingerprint, interpreter, look
from test.agent.place import PlaceTest, identity, python, read

VENV = os.environ.get("SGLANG_TEST_VENV")


@unittest.skipUnless(VENV, "SGLANG_TEST_VENV names no venv with SGLang")
class Real(PlaceTest):
    def setUp(self):
        super().setUp()
        # Beside the venv: /tmp may be small, and another file system.
        beside = tempfile.mkdtemp(prefix="sglang-real-", dir=os.path.dirname(os.path.normpath(VENV)))
        self.addCleanup(shutil.rmtree, beside, True)
        self.root = os.path.join(beside, "root")
        self.layout = type(self.layout)(self.root)
        self.venv = VENV

    def timed(self, what, run, most):
        began = time.monotonic()
        result = run()
        took = time.monotonic() - began
        print("%-34s %6.2f s" % (what, took), file=sys.stderr)
        self.assertLess(took, most, what)
        return result

    def test_a_real_venv_is_copied_patched_and_looked_at_in_good_time(self):
        before = identity(VENV)
        for name, module, most in (("copy", adopted, 300), ("make", bytecode, 300), ("link_tree", clone, 30)):
            self.measure(module, name, most)
        self.timed("fingerprint", lambda: fingerprint.fingerprint(VENV, (self.root,)), 3)
        first = self.timed("first release", self.make, 600)
        site = first["site"]
        number = read(site, "sglang/version.py").splitlines()
        patch = "--- a\n+++ b\n@@ -1 +1,2 @@\n %s\n+patched = True\n" % number[0] if len(number) == 1 else None
        patches = (
            [self.diff_patch("sglang.version", patch)]
            if patch
            else [self.file_patch("sglang/version.py", read(site, "sglang/version.py") + "patched = True\n")]
        )
        second = self.timed("one-line patch, end to end", lambda: self.make((), patches), 30)
        self.timed("make of a whole release", lambda: self.make((), patches), 5)
        facts = self.timed("look", lambda: look.venvs(self.layout), 4)[0]["v"]["releases"]
        self.assertEqual(
            {name: (one["complete"], one["driftCount"]) for name, one in facts.items()},
            {first["release"]: (True, 0), second["release"]: (True, 0)},
        )
        self.assertEqual(
            python(
                second["path"],
                "import importlib.util as u; s = u.spec_from_file_location('v', %r); m = u.module_from_spec(s); s.loader.exec_module(m); print(m.patched)"
                % (second["site"] + "/sglang/version.py"),
            ),
            "True",
        )
        self.assertEqual(identity(VENV), before)

    def test_requirements_are_judged_as_packaging_judges_them(self):
        site = interpreter.site_packages(VENV)
        found = consistency.unmet(
            consistency.snapshot(site),
            {dist.name for dist in dists.installed(site)},
            interpreter.facts(VENV)["markers"],
        )
        code = (
            "import importlib.metadata as m\nfrom packaging.requirements import Requirement as R\nfrom packaging.utils import canonicalize_name as c\n"
            "have = {c(d.metadata['Name']): d.version for d in m.distributions()}\n"
            "for d in m.distributions():\n  for r in map(R, d.requires or []):\n    if r.marker and not r.marker.evaluate({'extra': ''}): continue\n"
            "    v = have.get(c(r.name))\n    if v is None or not r.specifier.contains(v, prereleases=True): print(c(d.metadata['Name']), c(r.name))\n"
        )
        self.assertEqual(
            sorted({(one["by"], one["name"]) for one in found}),
            sorted({tuple(line.split()) for line in python(VENV, code).splitlines()}),
        )

    def test_versions_compare_as_packaging_compares_them(self):
        versions = [
            "1",
            "1.0",
            "1.0.0",
            "1.0.1",
            "1.1",
            "2!1",
            "1.0a1",
            "1.0b2",
            "1.0rc1",
            "1.0.dev3",
            "1.0a1.dev2",
            "1.0.post1",
            "1.0.post1.dev2",
            "1.0+cu128",
            "1.0+cu130",
            "2.11.0+cu130",
            "2.11.0",
            "0.5.10.post2",
            "1.0.0rc1+x.2",
            "1.10",
            "v1.2",
        ]
        specifiers = [
            operator + version
            for operator in ("==", "!=", "<", ">", "<=", ">=")
            for version in versions
            if "+" not in version or operator in ("==", "!=")
        ]
        specifiers += ["==1.*", "!=1.0.*", "~=1.0", "~=1.0.0", "~=1.0.post1", "===1.0", ">=1,<2", ">1.0,!=1.1"]
        code = (
            "from packaging.specifiers import SpecifierSet as S\nfor v in %r:\n  for s in %r:\n    print(int(S(s).contains(v, prereleases=True)), end='')"
            % (versions, specifiers)
        )
        mine = "".join(
            str(int(pep440.satisfies(version, specifier))) for version in versions for specifier in specifiers
        )
        theirs = python(VENV, code)
        self.assertEqual(
            [pair for pair, a, b in zip(((v, s) for v in versions for s in specifiers), mine, theirs) if a != b], []
        )
        self.assertEqual(len(mine), len(theirs))

    def measure(self, module, name, most):
        real = getattr(module, name)
        self.addCleanup(setattr, module, name, real)
        setattr(module, name, lambda *args, **more: self.timed("  " + name, lambda: real(*args, **more), most))

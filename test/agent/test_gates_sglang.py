import difflib
import hashlib
import os
import shutil
import subprocess
import tempfile
import textwrap
import unittest

from agent import store
from agent.fault import Fault
from agent.gates import service
from agent.layout import Layout
from agent.request import Request
from agent.venv import patch
from test.agent.support import make_request

VENV = os.environ.get("SGLANG_TEST_VENV", "")

# A kernel package for a machine without a CUDA driver: every name can be imported, none can be called.
KERNEL = """
    import importlib.abc, importlib.machinery, sys, types

    class Name:
        def __init__(self, name): self.__name__ = name
        def __getattr__(self, name):
            if name.startswith("__"): raise AttributeError(name)
            return Name(name)

    class Part(types.ModuleType):
        __path__ = []
        __getattr__ = Name.__getattr__

    class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
        def find_spec(self, name, path=None, target=None):
            if name.startswith("sgl_kernel."): return importlib.machinery.ModuleSpec(name, self, is_package=True)
        def create_module(self, spec): return Part(spec.name)
        def exec_module(self, module): pass

    __path__ = []
    def __getattr__(name):
        if name.startswith("__"): raise AttributeError(name)
        return Name(name)
    sys.meta_path.insert(0, Finder())
"""
SPECULATIVE = "sglang/srt/speculative/"
# A speculative algorithm of one's own: what SGLang's files lack, by the line that it comes after, and files of its own.
CHANGED = {
    "spec_info.py": {
        "    DFLASH = auto()\n": "    DDTREE = auto()\n",
        "    def is_dflash(self) -> bool:\n": "        if self.is_ddtree():\n            return True\n",
        "        return self != SpeculativeAlgorithm.NONE\n": (
            "\n    def is_ddtree(self) -> bool:\n        return self == SpeculativeAlgorithm.DDTREE\n"
        ),
    },
    "spec_registry.py": {'_RESERVED_ALIASES = frozenset({"NEXTN"})\n': "DDTREE_WIDTH = 4\n"},
}
NEW = {
    "ddtree_info.py": "from sglang.srt.speculative.spec_registry import DDTREE_WIDTH\n\nNODES = 2**DDTREE_WIDTH\n",
    "ddtree_utils.py": "import torch\n\n\ndef parents(nodes):\n    return torch.arange(nodes) // 2\n",
    "ddtree_worker.py": "from sglang.srt.speculative.ddtree_info import NODES\nfrom sglang.srt.speculative.ddtree_utils import parents\n\nTREE = parents(NODES)\n",
}
ALGORITHM = "sglang.srt.speculative.spec_info.SpeculativeAlgorithm.from_string('DDTREE')"

ARGS = ["--model-path", "/models/tiny", "--device", "cpu", "--attention-backend", "torch_native", "--port", "31000"]


@unittest.skipUnless(VENV, "SGLANG_TEST_VENV names no venv with SGLang")
class RealSglang(unittest.TestCase):
    """Against a clone by hard links: nothing of the venv itself is written, each changed file is a new one."""

    @classmethod
    def setUpClass(cls):
        cls.top = tempfile.mkdtemp(prefix="tmp-gates-", dir=os.path.dirname(os.path.realpath(VENV)))
        cls.release = os.path.join(cls.top, "release")
        subprocess.check_call(["cp", "-al", os.path.realpath(VENV), cls.release])
        lib = os.path.join(cls.release, "lib")
        cls.site = os.path.join(lib, os.listdir(lib)[0], "site-packages")
        os.makedirs(os.path.join(cls.top, "kernel", "sgl_kernel"))
        with open(os.path.join(cls.top, "kernel", "sgl_kernel", "__init__.py"), "w") as file:
            file.write(textwrap.dedent(KERNEL))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.top)

    def check(self, args=(), env=None, **gates):
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": self.top,
            "HF_HUB_OFFLINE": "1",
            "SGLANG_USE_CPU_ENGINE": "1",
            "CUDA_VISIBLE_DEVICES": "",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": os.path.join(self.top, "kernel"),
        }
        candidate = {
            "python": os.path.join(self.release, "bin", "python"),
            "site": self.site,
            "release": self.release,
            "cwd": self.top,
            "user": None,
            "group": None,
            "limits": {},
            "module": "sglang.launch_server",
            "args": ARGS + list(args),
            "env": dict(environment, **(env or {})),
            "gates": dict({"timeout": 300}, **gates),
        }
        return service.check(Request({"root": self.top}), candidate)

    def problems(self, **wish):
        with self.assertRaises(Fault) as caught:
            self.check(**wish)
        return ["%s: %s" % (problem["gate"], problem["text"]) for problem in caught.exception.more["problems"]]

    def replace(self, path, change):
        """Puts a changed copy of a file in the place of the linked one, until the test ends; its `patched` entry."""
        file = os.path.join(self.site, path)
        shutil.copy2(file, file + ".kept")
        os.unlink(file)
        with open(file + ".kept") as kept, open(file, "w") as new:
            new.write(change(kept.read()))
        self.addCleanup(os.replace, file + ".kept", file)
        with open(file, "rb") as new:
            return {
                "module": path[:-3].replace("/", "."),
                "path": path,
                "sha256": hashlib.sha256(new.read()).hexdigest(),
            }

    def test_a_candidate_that_serves_passes_with_a_patch_and_is_warned_of_a_misspelt_variable(self):
        patch = self.replace("sglang/srt/sampling/sampling_params.py", lambda text: text + "\nPATCHED = 1\n")
        result = self.check(
            imports=["sgl_kernel"],
            patched=[patch],
            asserts=["torch.__version__.split('.')[0] == '2'"],
            env={"SGLANG_PROT": "1"},
        )
        for gate in result["gates"]:
            print("  gate %(gate)s: %(seconds).2f s %(note)s" % gate)
        self.assertEqual(result["modules"][patch["module"]], os.path.join(self.site, patch["path"]))
        self.assertEqual(
            result["gates"][-1]["warnings"], ["SGLANG_PROT is read nowhere in this sglang; nearest: SGLANG_PORT"]
        )

    def lay(self, changed, new):
        """Applies diffs and new files to the clone as a release gets them, until the test ends; their `patched` entries."""
        layout = Layout(os.path.join(self.top, "root"))
        wanted = []
        for name in list(changed) + list(new):
            path = SPECULATIVE + name
            text = new.get(name) or self.diff(path, changed[name])
            data, kind = text.encode(), "file" if name in new else "diff"
            sha256 = hashlib.sha256(data).hexdigest()
            store.put(make_request(layout.root, data, contents=[{"sha256": sha256, "size": len(data)}]))
            wanted.append({"target": {"path": path}, "kind": kind, "sha256": sha256, "pre": None})
        records = [one for one in os.listdir(self.site) if one.startswith("sglang-") and one.endswith(".dist-info")]
        for path in [SPECULATIVE + name for name in changed] + [one + "/RECORD" for one in records]:
            file = os.path.join(self.site, path)
            os.link(file, file + ".kept")
            self.addCleanup(os.replace, file + ".kept", file)
        for name in new:
            self.addCleanup(os.unlink, os.path.join(self.site, SPECULATIVE + name))
        done = patch.apply_all(layout, self.release, wanted)
        return [{"module": one.key[:-3].replace("/", "."), "path": one.key, "sha256": one.sha256} for one in done]

    def diff(self, path, additions):
        with open(os.path.join(self.site, path)) as file:
            old = file.readlines()
        after = dict(additions)
        # What follows a line that is there several times follows the first.
        new = [part for line in old for part in (line, after.pop(line, ""))]
        self.assertEqual(after, {})
        lines = difflib.unified_diff(old, "".join(new).splitlines(True), "a/" + path, "b/" + path)
        return "".join(lines)

    def test_an_algorithm_that_five_files_of_ones_own_bring_is_asserted_and_without_them_the_assertion_fails(self):
        asserts = [ALGORITHM + ".is_dflash()", ALGORITHM + ".is_ddtree()"]
        told = self.problems(asserts=asserts)
        self.assertEqual(
            [(line.split(":")[0], "Unknown speculative algorithm name: DDTREE" in line) for line in told],
            [("asserts", True), ("asserts", True)],
        )
        patched = self.lay(CHANGED, NEW)
        result = self.check(asserts=asserts, patched=patched)
        self.assertEqual(
            {one["module"]: os.path.join(self.site, one["path"]) for one in patched},
            {module: result["modules"].get(module) for module in (one["module"] for one in patched)},
        )

    def test_flags_of_another_version_are_all_told(self):
        told = self.problems(args=["--attention-backend", "torchnative", "--enable-dp-attn", "--port", "high"])
        self.assertEqual(told[0][:74], "flags: --attention-backend has no choice 'torchnative'; nearest: torch_nat")
        self.assertTrue(told[1].startswith("flags: --enable-dp-attn is not a flag of this version"))
        self.assertEqual(told[2:], ["flags: --port high: invalid int value: 'high'"])

    def test_two_missing_distributions_come_in_one_report(self):
        for name in ("pybase64", "torchvision"):
            folder = os.path.join(self.site, name)
            os.rename(folder, folder + ".away")
            self.addCleanup(os.rename, folder + ".away", folder)
        told = [line.split(":")[:2] for line in self.problems()]
        self.assertEqual(
            told[0], ["imports", " pybase64 is missing although pybase64 1.5.1 is installed by its metadata"]
        )
        self.assertIn(
            ["imports", " torchvision is missing although torchvision 0.29.2 is installed by its metadata"], told
        )

    def test_a_patch_that_does_not_import_is_named_by_file_and_line(self):
        patch = self.replace(
            "sglang/srt/managers/scheduler.py", lambda text: "from sglang.srt.server_args import NoSuchThing\n" + text
        )
        told = self.problems(patched=[patch])
        self.assertEqual(len(told), 1)
        self.assertIn(
            "imports: the patched sglang/srt/managers/scheduler.py:1: ImportError: cannot import name 'NoSuchThing'",
            told[0],
        )

"""The gate that imports what was laid over a base and nothing of the service has imported."""

import json
import time
import unittest

from agent.gates import laid
from test.agent.candidate import Candidate


class Laid(unittest.TestCase):
    def setUp(self):
        self.candidate = Candidate()
        self.addCleanup(self.candidate.remove)
        self.laid = {}

    def lay(self, name, version, **files):
        """Installs a distribution with these modules, each a package, and notes it as laid."""
        self.candidate.distribution(name, version)
        rows = []
        for module, text in files.items():
            self.candidate.write(module + "/__init__.py", text)
            rows.append(module + "/__init__.py,,\n")
        self.candidate.write("%s-%s.dist-info/RECORD" % (name.replace("-", "_"), version), "".join(rows))
        self.laid[name] = version
        facts = {"format": 1, "laid": self.laid, "base": "base-x"}
        self.candidate.write("release.json", json.dumps(facts), below=self.candidate.top)

    def gate(self, **wish):
        """The result of the gate of a candidate that passes."""
        [gate] = [one for one in self.candidate.check(**wish)["gates"] if one["gate"] == "laid"]
        return gate

    def test_what_was_laid_and_imports_passes_and_what_nobody_laid_is_not_imported(self):
        self.lay("good", "1", good="")
        self.candidate.distribution("bad", "1")
        self.candidate.write("bad/__init__.py", "1 / 0")
        gate = self.gate()
        self.assertEqual((gate["ok"], gate["warnings"], gate["note"]), (True, [], "1 more module"))

    def test_without_layers_there_is_no_such_gate(self):
        self.assertNotIn("laid", [one["gate"] for one in self.candidate.check()["gates"]])

    def test_all_modules_that_the_laid_ones_lack_are_told_at_once_each_with_who_imports_it(self):
        self.lay("one", "1.0", one="import pybase64\nimport torchvision\n")
        self.lay("two", "2.0", two="import pybase64\n")
        asked = "nothing that is installed requires a distribution of that name"
        self.assertEqual(
            self.candidate.problems(),
            [
                "laid: one, laid with one 1.0: pybase64 is not installed: one/__init__.py:1 imports it (import pybase64); %s (pybase64?)"
                % asked,
                "laid: one, laid with one 1.0: torchvision is not installed: one/__init__.py:2 imports it (import torchvision); %s (torchvision?)"
                % asked,
                "laid: two, laid with two 2.0: pybase64 is not installed: two/__init__.py:1 imports it (import pybase64); %s (pybase64?)"
                % asked,
            ],
        )

    def test_a_kernel_that_was_built_for_another_torch_fails_with_both_versions(self):
        self.candidate.distribution("torch", "2.11.0+cu130")
        self.lay(
            "sgl-kernel", "0.3.16", sgl_kernel="raise ImportError('/x.so: undefined symbol: _ZN3c104cuda9SetDeviceEab')"
        )
        [told] = self.candidate.problems()
        self.assertIn("laid: sgl_kernel, laid with sgl-kernel 0.3.16: sgl_kernel/__init__.py:1: ImportError", told)
        self.assertIn("sgl-kernel 0.3.16 was built for another torch", told)
        self.assertIn("torch here is 2.11.0+cu130", told)

    def test_one_that_is_accepted_by_its_distribution_warns_and_serves(self):
        self.lay("sgl-kernel", "0.3.16", sgl_kernel="raise ImportError('/x.so: undefined symbol: f')")
        gate = self.gate(acceptLibraries=["sgl-kernel"])
        self.assertEqual((gate["ok"], len(gate["warnings"])), (True, 1))

    def test_what_fails_for_want_of_a_gpu_warns(self):
        self.lay("deep-gemm", "2", deep_gemm="raise RuntimeError('No CUDA GPUs are available')")
        gate = self.gate()
        self.assertEqual(
            (gate["ok"], gate["warnings"]),
            (
                True,
                [
                    "deep_gemm, laid with deep-gemm 2: deep_gemm/__init__.py:1: RuntimeError: No CUDA GPUs are available (raise RuntimeError('No CUDA GPUs are available'))"
                ],
            ),
        )

    def test_one_that_ends_the_interpreter_warns_and_all_other_gates_have_answered(self):
        self.lay("abort", "1", abort="import os\nos.abort()\n")
        result = self.candidate.check()
        self.assertEqual(
            [(one["gate"], one["ok"]) for one in result["gates"][-2:]], [("environment", True), ("laid", True)]
        )
        self.assertEqual(result["gates"][-1]["warnings"], ["the interpreter died of SIGABRT at abort"])

    def test_one_that_ends_the_interpreter_hides_nothing_of_those_before_and_after_it(self):
        self.lay("a-first", "1", first="import pybase64\n")
        self.lay("b-exit", "1", leaves="import os\nos._exit(3)\n")
        self.lay("c-crash", "1", crashes="import ctypes\nctypes.string_at(0)\n")
        self.lay("d-last", "1", last="import torchvision\n")
        problems = self.candidate.fault().more["problems"]
        self.assertEqual(
            [one["text"].split(": ")[0] for one in problems], ["first, laid with a-first 1", "last, laid with d-last 1"]
        )
        [gate] = [one for one in self.candidate.fault().more["gates"] if one["gate"] == "laid"]
        self.assertEqual(
            gate["warnings"],
            ["the interpreter ended by itself (exit 3) at leaves", "the interpreter died of SIGSEGV at crashes"],
        )

    def test_one_that_hangs_has_a_share_of_the_time_and_the_next_one_is_tried(self):
        self.lay("slow", "1", slow="import time\ntry:\n    time.sleep(60)\nexcept Exception:\n    pass\n")
        self.lay("tail", "1", tail="import pybase64\n")
        started = time.monotonic()
        fault = self.candidate.fault(timeout=12)
        self.assertLess(time.monotonic() - started, 11)
        [gate] = [one for one in fault.more["gates"] if one["gate"] == "laid"]
        [warning] = gate["warnings"]
        self.assertRegex(
            warning,
            r"^slow, laid with slow 1: slow/__init__\.py:3: NotInTime: its import had not ended after \d\.\d+ s \(time\.sleep\(60\)\)$",
        )
        self.assertEqual([one["text"].split(":")[0] for one in gate["problems"]], ["tail, laid with tail 1"])

    def test_one_that_heeds_no_signal_is_given_up_with_the_place_where_it_stood(self):
        stuck = "import signal, time\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\ntime.sleep(60)\n"
        self.lay("slow", "1", slow=stuck)
        self.lay("tail", "1", tail="import pybase64\n")
        fault = self.candidate.fault(timeout=12)
        [gate] = [one for one in fault.more["gates"] if one["gate"] == "laid"]
        self.assertEqual(
            gate["warnings"],
            ["its import heeded no signal and was given up at slow: it stood at slow/__init__.py:3 (<module>)"],
        )
        self.assertEqual([one["text"].split(":")[0] for one in gate["problems"]], ["tail, laid with tail 1"])

    def test_what_an_import_does_to_its_process_keeps_nothing_else_from_being_tried(self):
        self.lay("a", "1", prints="import os\nos.write(1, b'x' * (8 << 20))\n")
        self.lay(
            "b", "1", moves="import os\nos.chdir('/')\nos.environ.clear()\nos.environ['LD_LIBRARY_PATH'] = '/no'\n"
        )
        self.lay("c", "1", forks="import os\nif os.fork() == 0:\n    pass\n")
        self.lay("d", "1", starts="import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()\n")
        self.lay("e", "1", child="import subprocess\nsubprocess.Popen(['sleep', '99'], start_new_session=True)\n")
        self.lay("f", "1", closes="import os\nos.closerange(3, 64)\n")
        self.lay("g", "1", interrupts="raise KeyboardInterrupt\n")
        self.lay("h", "1", last="import pybase64\n")
        fault = self.candidate.fault()
        [gate] = [one for one in fault.more["gates"] if one["gate"] == "laid"]
        self.assertEqual([one["text"].split(":")[0] for one in gate["problems"]], ["last, laid with h 1"])
        self.assertEqual([one.split(" at ")[-1] for one in gate["warnings"]], ["closes", "interrupts"])

    def test_what_is_imported_of_a_distribution_are_its_modules_for_use(self):
        paths = [
            "torch/__init__.py",
            "torch/_C.cpython-311-x86_64-linux-gnu.so",
            "torchgen/__init__.py",
            "tests/__init__.py",
        ]
        paths += [
            "nvidia/cu13/lib/libcudart.so.13",
            "nvidia/cu13/__init__.py",
            "_virtualenv.py",
            "six.py",
            "fast.abi3.so",
        ]
        paths += [
            "x.cpython-311-x86_64-linux-gnu.so",
            "a-b.py",
            "libfoo.so",
            "../../../bin/torchrun",
            "torch-2.dist-info/RECORD",
        ]
        self.assertEqual(laid.tops(paths), ["fast", "six", "torch", "torchgen", "x"])

"""A candidate that the gates refuse, while the old one serves: it names the cause, and nothing of what runs is touched."""

import os
import re
import unittest

from test.agent.candidate import SIBLING
from test.agent.place import identity
from test.agent.service_case import Case

KERNEL = """
import torch
if not torch.__version__.startswith("2.9."):
    raise ImportError("/x/sgl_kernel/common_ops.abi3.so: undefined symbol: _ZN3c104cuda9SetDeviceEab")
"""


class ARefusedCandidate(Case):
    """r1 is a server of torch 2.9 that answers; r3 is what an overlay of torch 2.11, or another version of SGLang, made of it."""

    def setUp(self):
        super().setUp()
        self.gates.stop()
        self.pid = self.host.activate("r1")["pid"]
        self.old = self.host.layout.release("v", "r1")
        self.before = identity(self.old)

    def torch(self, version):
        """site-packages of r3, with a torch of that version."""
        site = self.host.release("r3")
        self.put(site, "torch/__init__.py", "__version__ = %r\n" % version)
        self.distribution(site, "torch", version)
        return site

    def put(self, site, path, text):
        path = os.path.join(site, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.host.write(path, text)

    def distribution(self, site, name, version, requires=""):
        info = os.path.join(site, "%s-%s.dist-info" % (name, version))
        os.mkdir(info)
        wish = "Requires-Dist: %s\n" % requires if requires else ""
        self.host.write(os.path.join(info, "METADATA"), "Name: %s\nVersion: %s\n%s" % (name, version, wish))

    def refused(self, **wish):
        """The lines of the fault, after what runs was found as it was."""
        fault = self.host.fails("r3", **wish)
        facts = self.host.look()
        self.assertEqual((facts["process"]["pid"], facts["running"], self.host.text()), (self.pid, "running", "Paris."))
        self.assertEqual(facts["current"]["release"], "r1")
        self.assertEqual(identity(self.old), self.before)
        head, *lines = fault.message.split("\n")
        self.assertIn("what runs was left alone", head)
        return lines

    def test_whose_kernel_is_for_another_torch(self):
        site = self.torch("2.11.0+cu130")
        self.put(site, "sgl_kernel/__init__.py", KERNEL)
        self.distribution(site, "sgl_kernel", "0.3.16", "torch==2.9.1")
        lines = self.refused(gates={"imports": ["sgl_kernel"]})
        self.assertEqual(len(lines), 1)
        self.assertIn("undefined symbol: _ZN3c104cuda9SetDeviceEab", lines[0])
        self.assertIn(
            "sgl_kernel 0.3.16 was built for another torch (it requires torch==2.9.1); torch here is 2.11.0+cu130",
            lines[0],
        )

    def test_with_a_sibling_that_was_left_behind_until_it_comes_too(self):
        site = self.torch("2.11.0+cu130")
        self.put(site, "torchvision/__init__.py", SIBLING % "2.9.1")
        self.distribution(site, "torchvision", "0.24.1", "torch==2.9.1")
        lines = self.refused(gates={"imports": ["torchvision"]})
        self.assertEqual(len(lines), 1)
        self.assertIn("RuntimeError: operator torchvision::nms does not exist", lines[0])
        self.assertIn(
            "torchvision 0.24.1 was built for another torch (it requires torch==2.9.1); torch here is 2.11.0+cu130",
            lines[0],
        )
        self.put(site, "torchvision/__init__.py", SIBLING % "2.11.0")
        self.assertTrue(self.host.activate("r3", gates={"imports": ["torchvision"]})["restarted"])

    def test_that_lost_a_flag(self):
        site = self.host.release("r3")
        args = os.path.join(site, "sglang/srt/server_args.py")
        with open(args) as file:
            text = file.read()
        self.host.write(args, text.replace("    weight_version: A", "    weights_version: A"))
        spec = {"args": self.host.args()["spec"]["args"] + ["--weight-version", "w1"]}
        cause = "--weight-version is not a flag of this version; nearest: --weights-version"
        self.assertEqual(self.refused(spec=spec), ["gate flags: " + cause])
        with open(self.host.place.gates + ".txt") as file:
            head, empty, *table = file.read().splitlines()
        self.assertRegex(
            head, r"^release %s, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$" % self.host.layout.release("v", "r3")
        )
        self.assertEqual(empty, "")
        self.assertEqual(
            [line.split()[:2] for line in table[1:4]], [[one, "passed"] for one in ("libraries", "cuda", "versions")]
        )
        # Seconds, counts of modules and the interpreter's version differ from run to run.
        masks = ((r" \d+\.\d\d(?=  |$)", " 0.00"), (r"\d+ modules", "N modules"), (r"Python \d\S+", "Python 3"))
        told = table[:1] + table[4:]
        for pattern, mask in masks:
            told = [re.sub(pattern, mask, line) for line in told]
        self.assertEqual(
            told,
            [
                "gate         result  seconds  cause",
                "interpreter  passed     0.00  %s/bin/python, Python 3" % self.host.layout.release("v", "r3"),
                "imports      passed     0.00  N modules loaded",
                "origin       passed     0.00",
                "asserts      passed     0.00  0 expressions",
                "gpus         passed     0.00  not counted: nothing imported torch",
                "flags        failed     0.00  " + cause,
                "environment  passed     0.00",
            ],
        )


if __name__ == "__main__":
    unittest.main()

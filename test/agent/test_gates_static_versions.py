"""Static gates: distributions whose versions do not belong together, and the table of all causes."""

import os
import unittest

from agent.gates import report
from test.agent.libraries import LIB, TAG
from test.agent.static_case import StaticGates


class Versions(StaticGates):
    def test_code_and_metadata_of_torch_that_are_of_two_builds_are_told(self):
        self.host.torch(self.base, "2.11.0+cu128", "12.8")
        self.host.start()
        self.host.dist(self.release, "torch", "2.11.0+cu130", ["torch/__init__.py", "torch/version.py"])
        self.assertEqual(
            self.host.told("problems"),
            [
                "versions: torch/version.py says 2.11.0+cu128, the metadata of torch says 2.11.0+cu130: code and metadata are not of one build"
            ],
        )

    def test_metadata_without_a_label_agrees_with_any(self):
        self.host.start()
        self.host.torch(self.release, "2.11.0+cu130", "13.0")
        os.rename(
            os.path.join(self.release, LIB, "torch-2.11.0+cu130.dist-info"),
            os.path.join(self.release, LIB, "torch-2.11.0.dist-info"),
        )
        self.assertEqual(self.host.told("problems") + self.host.told("warnings"), [])

    def test_a_sibling_that_was_left_behind_when_torch_was_replaced_is_told_with_both_versions(self):
        self.host.torch(self.base, "2.9.1+cu128", "12.8")
        self.host.write(self.base, "torchvision/version.py", "__version__ = '0.24.1+cu128'\n")
        self.host.start()
        self.host.torch(self.release, "2.11.0+cu130", "13.0")
        self.assertEqual(
            self.host.told("problems"),
            ["versions: torchvision 0.24.1+cu128 is for CUDA 12, torch 2.11.0+cu130 is for CUDA 13.0"],
        )

    def test_a_distribution_whose_modules_are_all_for_another_python_is_told(self):
        self.host.start()
        self.host.put(self.release, "kernels/_k.cpython-399-%s-linux-gnu.so" % os.uname().machine)
        self.host.dist(self.release, "kernels", "1.0", ["kernels/_k.cpython-399-%s-linux-gnu.so" % os.uname().machine])
        told = self.host.told("problems")
        self.assertEqual(len(told), 1)
        self.assertIn("versions: 1 of 1 changed extension modules of kernels 1.0 are not for this Python", told[0])
        self.host.put(self.release, "kernels/_k.%s.so" % TAG)
        self.host.dist(
            self.release,
            "kernels",
            "1.0",
            ["kernels/_k.cpython-399-%s-linux-gnu.so" % os.uname().machine, "kernels/_k.%s.so" % TAG],
        )
        self.assertEqual(self.host.told("problems"), [])

    def test_a_wheel_for_a_newer_libc_that_came_from_a_donor_is_told(self):
        self.host.start()
        self.host.dist(self.release, "kernels", "1.0", [])
        self.host.write(
            self.release, "kernels-1.0.dist-info/WHEEL", "Tag: py3-none-manylinux_2_99_%s\n" % os.uname().machine
        )
        told = self.host.told("problems")
        self.assertEqual(len(told), 1)
        self.assertTrue(
            told[0].startswith(
                "versions: kernels 1.0 was built for py3-none-manylinux_2_99_%s, this release is CPython "
                % os.uname().machine
            ),
            told,
        )


class Report(unittest.TestCase):
    def test_the_table_has_a_line_for_each_cause(self):
        gates = [
            {
                "gate": "libraries",
                "ok": False,
                "seconds": 1.234,
                "note": "9 files",
                "problems": [{"text": "a"}, {"text": "b"}],
                "warnings": ["c"],
            },
            {"gate": "cuda", "ok": True, "seconds": 0.0, "note": "no driver here", "problems": [], "warnings": []},
        ]
        self.assertEqual(
            report.table(gates),
            [
                "gate       result  seconds  cause",
                "libraries  failed     1.23  a",
                "           failed           b",
                "           warns            c",
                "cuda       passed     0.00  no driver here",
            ],
        )

import unittest

from agent.gates.inside import gpus
from test.agent.candidate import Candidate

TORCH = """
    class cuda:
        @staticmethod
        def device_count():
            %s
"""


class Gpus(unittest.TestCase):
    """How many GPUs torch sees in the service's environment, by a torch that says how many."""

    def setUp(self):
        self.candidate = Candidate()
        self.addCleanup(self.candidate.remove)
        self.candidate.write("tinyserve/launch.py", "import torch\n")
        self.sees("return 1")

    def sees(self, body):
        self.candidate.write("torch/__init__.py", TORCH % body)

    def note(self, **wish):
        return next(gate["note"] for gate in self.candidate.check(**wish)["gates"] if gate["gate"] == "gpus")

    def test_as_many_as_declared_pass(self):
        self.assertEqual(self.note(env={"CUDA_VISIBLE_DEVICES": "3"}), "torch sees 1 GPU")
        self.assertEqual(self.note(), "torch sees 1 GPU")

    def test_fewer_than_declared_are_told_with_both_numbers_and_the_variable(self):
        self.assertEqual(
            self.candidate.problems(env={"CUDA_VISIBLE_DEVICES": "0,7"}),
            ["gpus: torch sees 1 GPU, declared: 2 (CUDA_VISIBLE_DEVICES=0,7)"],
        )

    def test_none_where_none_are_declared_pass_and_one_would_not(self):
        told = self.candidate.problems(env={"CUDA_VISIBLE_DEVICES": ""})
        self.assertEqual(told, ["gpus: torch sees 1 GPU, declared: 0 (CUDA_VISIBLE_DEVICES=)"])
        self.sees("return 0  # of another length: bytecode of the same second and size would still answer")
        self.assertEqual(self.note(env={"CUDA_VISIBLE_DEVICES": ""}), "torch sees 0 GPUs")

    def test_more_ranks_than_gpus_are_told_with_the_flags_that_want_them(self):
        told = self.candidate.problems(args=["--model-path", "/m", "--tp-size", "8"])
        self.assertEqual(told, ["gpus: --tp-size 8 takes 8 GPUs, and the service sees 1"])

    def test_ranks_are_counted_by_every_spelling_and_over_the_nodes(self):
        cases = [
            (["--tp", "4"], 4),
            (["--tensor-parallel-size=2", "--pp-size", "2"], 4),
            (["--tp-size", "8", "--nnodes", "2"], 4),
            (["--tp-size", "8", "--tp-size", "2"], 2),
            (["--port", "8"], 1),
        ]
        self.assertEqual([gpus.ranks(args)[1] for args, _ in cases], [need for _, need in cases])

    def test_what_cannot_be_counted_is_said_and_stops_nothing(self):
        self.sees("raise RuntimeError('no driver')")
        self.assertEqual(self.note(), "not counted: RuntimeError: no driver")
        self.candidate.write("tinyserve/launch.py", "")
        self.assertEqual(self.note(), "not counted: nothing imported torch")
        self.assertEqual(gpus.run(["--device", "cpu", "--tp-size", "2"]), ([], "not counted: --device cpu"))


if __name__ == "__main__":
    unittest.main()

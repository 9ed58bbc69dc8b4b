import unittest

from test.agent.candidate import Candidate


class Asserts(unittest.TestCase):
    def setUp(self):
        self.candidate = Candidate()
        self.addCleanup(self.candidate.remove)
        self.candidate.write("torch.py", "class version:\n    cuda = '12.8'\n")

    def test_true_expressions_pass_and_see_the_loaded_modules_by_name(self):
        self.candidate.check(
            imports=["torch"],
            asserts=[
                "torch.version.cuda == '12.8'",
                "__import__('torch').version.cuda",
                "all(torch.version.cuda > v for v in ['11', '12'])",
            ],
        )

    def test_each_false_or_failing_expression_is_told_with_what_it_found(self):
        asserts = [
            "__import__('torch').version.cuda == '13.0'",
            "not torch",
            "torch.version.hip",
            "torch.version.cuda ==",
            "'13' in torch.version.cuda",
        ]
        told = self.candidate.problems(imports=["torch"], asserts=asserts)
        self.assertEqual(
            told[:3] + told[4:],
            [
                "asserts: __import__('torch').version.cuda == '13.0' is false: '12.8' == '13.0'",
                "asserts: not torch is false: False",
                "asserts: torch.version.hip raises AttributeError: type object 'version' has no attribute 'hip'",
                "asserts: '13' in torch.version.cuda is false: '13' in '12.8'",
            ],
        )
        self.assertIn("asserts: torch.version.cuda == raises SyntaxError: ", told[3])

    def test_they_are_not_evaluated_when_the_imports_failed(self):
        told = self.candidate.problems(imports=["nothing_there"], asserts=["False"])
        self.assertEqual([problem.split(":")[0] for problem in told], ["imports"])

    def test_secrets_are_not_shown_and_long_values_are_cut(self):
        asserts = ["__import__('os').environ['HF_TOKEN'] == 'x'", "len('y' * 5000) == 'y' * 5000"]
        told = self.candidate.problems(asserts=asserts, env={"HF_TOKEN": "hf_very'secret"})
        self.assertEqual(told[0], "asserts: __import__('os').environ['HF_TOKEN'] == 'x' is false: \"***\" == 'x'")
        self.assertEqual(len(told[1]), len("asserts: ") + 2001)

import textwrap
import unittest

from agent.gates.inside import environment, flags, flagsource
from test.agent.candidate import SERVER_ARGS, Candidate


class Flags(unittest.TestCase):
    def setUp(self):
        self.candidate = Candidate()
        self.addCleanup(self.candidate.remove)
        self.candidate.write("tinyserve/launch.py", "from tinyserve.server_args import ServerArgs\n")

    def gate(self, *args, **wish):
        found = self.candidate.check(args=args, **wish)["gates"]
        return next(gate for gate in found if gate["gate"] == "flags")

    def test_known_flags_pass(self):
        self.assertEqual(
            self.gate("--model", "/m", "--port", "31000", "--trust-remote-code", "--load-format=dummy")["warnings"], []
        )

    def test_all_that_is_wrong_is_told_at_once(self):
        args = [
            "stray",
            "--por",
            "x",
            "--tensor-paralel-size",
            "8",
            "--load-format",
            "dumy",
            "--trust-remote-code",
            "yes",
            "--port",
            "--foo",
            "a",
            "b",
        ]
        self.assertEqual(
            self.candidate.problems(args=args),
            [
                "flags: 'stray' stands before the first flag",
                "flags: --por x: invalid int value: 'x'",
                "flags: --tensor-paralel-size is not a flag of this version; nearest: --tensor-parallel-size",
                "flags: --load-format has no choice 'dumy'; nearest: dummy; choices: auto, dummy",
                "flags: --trust-remote-code does not take yes",
                "flags: --port: expected one argument",
                "flags: --foo does not take b",
                "flags: --model-path is required",
            ],
        )

    def test_a_flag_that_the_new_version_dropped_is_told(self):
        self.candidate.write("tinyserve/server_args.py", SERVER_ARGS.replace('parser.add_argument("--foo")', "pass"))
        self.assertEqual(
            self.candidate.problems(args=["--model-path", "/m", "--foo", "1"]),
            ["flags: --foo is not a flag of this version"],
        )

    def test_an_abbreviation_and_a_deprecated_flag_are_warnings(self):
        self.assertEqual(
            self.gate("--model-path", "/m", "--tp", "2", "--old-cache")["warnings"],
            [
                "--tp is only the beginning of --tp-size: another version may know two that begin so",
                "--old-cache is deprecated: Use --new-cache instead",
            ],
        )

    def test_an_ambiguous_abbreviation_names_what_it_begins(self):
        self.assertEqual(
            self.candidate.problems(args=["--model", "/m", "--t", "2"]),
            ["flags: --t is ambiguous: it begins --tensor-parallel-size, --tp-size, --trust-remote-code"],
        )

    def test_a_config_file_is_left_out_and_may_hold_what_is_required(self):
        self.assertTrue(self.gate("--config", "/run/keys.yaml", "--port", "1")["ok"])

    def test_negative_numbers_and_json_are_values(self):
        self.assertEqual(
            flags.groups(["--a", "-1", "--b", '{"x": -1}', "-c", "-.5"]),
            ([], [["--a", "-1"], ["--b", '{"x": -1}'], ["-c", "-.5"]]),
        )

    def test_a_module_without_server_args_is_skipped_and_says_so(self):
        self.candidate.write("tinyserve/other.py", "'__main__'\n")
        self.assertEqual(
            self.gate("--anything", module="tinyserve.other")["note"], "skipped: tinyserve.other declares no ServerArgs"
        )

    def test_a_parser_that_does_not_come_up_is_read_from_its_source(self):
        self.candidate.write("sglang/__init__.py", "")
        self.candidate.write("sglang/launch_server.py", "import missing_thing\n'__main__'\n")
        self.candidate.write("sglang/srt/__init__.py", "")
        self.candidate.write("sglang/srt/server_args.py", "1 / 0\n" + textwrap.dedent(SERVER_ARGS))
        told = self.candidate.problems(
            module="sglang.launch_server", args=["--model-path", "/m", "--portt", "1", "--tensor-par", "2"]
        )
        self.assertEqual(
            [line for line in told if line.startswith("flags")],
            ["flags: --portt is not a flag of this version; nearest: --port"],
        )


class Editable(unittest.TestCase):
    """SGLang in a source tree of the release, as an editable install of the base becomes one."""

    def setUp(self):
        self.candidate = Candidate()
        self.addCleanup(self.candidate.remove)
        self.source = self.candidate.make_directory("release", "src", "0")
        self.candidate.write("__editable__.sglang.pth", self.source + "\n")
        self.put("__init__.py", "")
        self.put("srt/__init__.py", "")
        self.put("launch_server.py", "import sglang.srt.server_args\n'__main__'\n")
        self.put("srt/server_args.py", SERVER_ARGS)
        self.put("srt/environ.py", "class Envs:\n    SGLANG_CACHE_DIR = EnvStr('')\n")

    def put(self, path, text):
        self.candidate.write("sglang/" + path, textwrap.dedent(text), below=self.source)

    def test_a_misspelt_variable_is_told_from_the_sources_there(self):
        told = self.candidate.check(module="sglang.launch_server", env={"SGLANG_CACHE_DIRR": "/x"})["warnings"]
        self.assertEqual(
            told, ["gate environment: SGLANG_CACHE_DIRR is read nowhere in this sglang; nearest: SGLANG_CACHE_DIR"]
        )

    def test_flags_are_read_from_the_sources_there_when_the_parser_does_not_come_up(self):
        self.put("srt/server_args.py", "1 / 0\n" + textwrap.dedent(SERVER_ARGS))
        told = self.candidate.problems(module="sglang.launch_server", args=["--model-path", "/m", "--portt", "1"])
        self.assertEqual(
            [line for line in told if line.startswith("flags")],
            ["flags: --portt is not a flag of this version; nearest: --port"],
        )


class Source(unittest.TestCase):
    def setUp(self):
        self.candidate = Candidate()
        self.addCleanup(self.candidate.remove)

    def test_all_three_styles_of_declaration_are_read(self):
        self.candidate.write(
            "sglang/srt/server_args.py",
            """
            class ServerArgs:
                host: A[str, "The host."] = "127.0.0.1"
                rank: int = 0
                model_path: A[str, Arg(help="x", aliases=["--model"])]
                tp: Annotated[int, Arg(cli_name="--tp-size", aliases=["--tensor-parallel-size"])] = 1
                hidden: A[bool, Arg(no_cli=True)] = False
                mixed: A[bool, Arg(action=argparse.BooleanOptionalAction)] = False
                def add(parser):
                    parser.add_argument("--config", type=str)
        """,
        )
        self.candidate.write(
            "sglang/srt/arg_groups/fields/disagg.py",
            "class D:\n    bootstrap_port: A[int, f'x'] = 1\n    own: A[int, Derived('y')]\n",
        )
        self.assertEqual(
            flagsource.flags(self.candidate.site),
            {
                "--host",
                "--model-path",
                "--model",
                "--tp-size",
                "--tensor-parallel-size",
                "--mixed",
                "--no-mixed",
                "--config",
                "--bootstrap-port",
            },
        )

    def test_a_misspelt_variable_is_told_with_the_nearest_that_is_read(self):
        self.candidate.write(
            "sglang/srt/environ.py", "class Envs:\n    SGLANG_PORT = EnvInt(1)\n    SGLANG_CACHE_DIR = EnvStr('')\n"
        )
        self.candidate.write("sglang/srt/models/x.py", "import os\nos.environ['SGLANG_HS_DUMP_DIR']\n")
        names = ["SGLANG_PORT", "SGL_PORT", "SGLANG_HS_DUMP_DIR", "SGLANG_CACHE_DIRR", "NCCL_PROTO"]
        self.assertEqual(
            environment.warnings(names, self.candidate.site),
            ["SGLANG_CACHE_DIRR is read nowhere in this sglang; nearest: SGLANG_CACHE_DIR"],
        )

import os
import unittest

from test.agent.candidate import Candidate


class Imports(unittest.TestCase):
    def setUp(self):
        self.candidate = Candidate()
        self.addCleanup(self.candidate.remove)

    def test_a_candidate_that_imports_passes_every_gate_and_says_where_its_modules_are(self):
        result = self.candidate.check(imports=["tinyserve.server_args"])
        self.assertEqual(
            [(gate["gate"], gate["ok"]) for gate in result["gates"][3:]],
            [(name, True) for name in ("interpreter", "imports", "origin", "asserts", "gpus", "flags", "environment")],
        )
        site = self.candidate.site
        self.assertEqual(
            result["modules"],
            {
                "tinyserve.launch_server": site + "/tinyserve/launch_server.py",
                "tinyserve.server_args": site + "/tinyserve/server_args.py",
            },
        )

    def test_all_missing_modules_come_in_one_report_each_with_who_imports_and_who_requires_it(self):
        self.candidate.write(
            "tinyserve/launch.py",
            """
            import os
            from pybase64 import b64decode
            import torchvision.transforms as transforms
            from PIL import Image

            class Loader(transforms.Compose):
                kind: "Image.Image | None" = b64decode("")

            @transforms.register("x")
            def load():
                return 7
        """,
        )
        self.candidate.distribution(
            "tinyserve",
            "0.5.23",
            "pybase64>=1.4",
            "torchvision==0.24.1; python_version > '3'",
            "pillow; extra == 'images'",
        )
        self.candidate.distribution("timm", "1.0.25", "torchvision")
        self.assertEqual(
            self.candidate.problems(),
            [
                "imports: pybase64 is not installed: tinyserve/launch.py:3 imports it (from pybase64 import b64decode); tinyserve 0.5.23 requires pybase64>=1.4",
                "imports: torchvision is not installed: tinyserve/launch.py:4 imports it (import torchvision.transforms as transforms); tinyserve 0.5.23 requires torchvision==0.24.1",
                "imports: PIL is not installed: tinyserve/launch.py:5 imports it (from PIL import Image); tinyserve 0.5.23 requires pillow",
            ],
        )

    def test_a_module_that_nothing_requires_is_told_with_the_distribution_that_may_bring_it(self):
        self.assertEqual(
            self.candidate.problems(imports=["sgl_kernel"]),
            [
                "imports: sgl_kernel is not installed: wanted by the declared imports; nothing that is installed requires a distribution of that name (sglang-kernel?)",
            ],
        )

    def test_metadata_without_its_module_is_told_as_such(self):
        self.candidate.write("tinyserve/launch.py", "import pybase64\n")
        self.candidate.distribution("pybase64", "1.5.1")
        self.assertEqual(
            self.candidate.problems(),
            [
                "imports: pybase64 is missing although pybase64 1.5.1 is installed by its metadata: tinyserve/launch.py:1 imports it (import pybase64)",
            ],
        )

    def test_a_missing_submodule_names_the_version_that_lacks_it(self):
        self.candidate.write("flashinfer/__init__.py", "")
        self.candidate.distribution("flashinfer-python", "0.6.0")
        self.candidate.write("tinyserve/launch.py", "import flashinfer.comm\n")
        self.assertEqual(
            self.candidate.problems(),
            [
                "imports: flashinfer.comm is not in flashinfer-python 0.6.0 (flashinfer/__init__.py): tinyserve/launch.py:1 imports it (import flashinfer.comm)",
            ],
        )

    def test_an_optional_module_that_is_missing_is_no_problem_and_gets_no_stand_in(self):
        self.candidate.write(
            "tinyserve/launch.py",
            """
            try:
                import ujson
            except ImportError:
                ujson = None
            assert ujson is None
        """,
        )
        self.assertTrue(self.candidate.check(asserts=["tinyserve.launch.ujson is None"])["gates"][4]["ok"])

    def test_an_import_error_raised_from_a_missing_module_names_the_module(self):
        self.candidate.write(
            "tinyserve/launch.py",
            """
            try:
                import gguf
            except ImportError as error:
                raise ImportError("please install it") from error
        """,
        )
        self.assertEqual(
            self.candidate.problems(),
            [
                'imports: gguf is not installed: tinyserve/launch.py:5 imports it (raise ImportError("please install it") from error); nothing that is installed requires a distribution of that name (gguf?)',
            ],
        )

    def test_a_patch_that_imports_badly_is_named_by_file_and_line(self):
        patch = self.candidate.patched(
            "tinyserve.spec_info", "import os\nfrom tinyserve.server_args import NoSuchThing\n"
        )
        self.candidate.write("tinyserve/launch.py", "from tinyserve import spec_info\n")
        told = self.candidate.problems(patched=[patch])
        self.assertEqual(len(told), 1)
        self.assertIn(
            "imports: the patched tinyserve/spec_info.py:2: ImportError: cannot import name 'NoSuchThing' from 'tinyserve.server_args'",
            told[0],
        )

    def test_a_patch_that_reaches_a_failure_elsewhere_is_named_too(self):
        self.candidate.write("tinyserve/registry.py", "def register(kind):\n    raise ValueError('no kind ' + kind)\n")
        patch = self.candidate.patched(
            "tinyserve.spec_info", "from tinyserve.registry import register\nregister('DDTREE')\n"
        )
        self.assertEqual(
            self.candidate.problems(patched=[patch]),
            [
                "imports: tinyserve/registry.py:2, reached from the patched tinyserve/spec_info.py:2 (register('DDTREE')): ValueError: no kind DDTREE (raise ValueError('no kind ' + kind))",
            ],
        )

    def test_a_syntax_error_is_named_by_the_line_it_is_on(self):
        patch = self.candidate.patched("tinyserve.spec_info", "x = 1\ndef broken(:\n    pass\n")
        told = self.candidate.problems(patched=[patch])
        self.assertEqual(len(told), 1)
        self.assertIn("imports: the patched tinyserve/spec_info.py:2: SyntaxError: ", told[0])

    def test_an_error_after_a_stand_in_says_that_it_may_follow(self):
        self.candidate.write("tinyserve/launch.py", "import pybase64\nassert pybase64.version() >= 2\n1 / 0\n")
        told = self.candidate.problems()
        self.assertEqual(len(told), 2)
        self.assertIn("(seen with stand-ins for pybase64: may follow from it)", told[1])

    def test_a_module_that_serves_when_it_is_imported_is_only_compiled(self):
        self.candidate.write("tinyserve/serve.py", "raise SystemExit('serving')\n")
        note = self.candidate.check(module="tinyserve.serve")["gates"][4]["note"]
        self.assertIn("tinyserve.serve starts its work when it is imported, so it was only compiled", note)

    def test_a_package_is_run_by_its_main_module(self):
        self.assertEqual(
            self.candidate.problems(module="tinyserve")[0][:44], "imports: tinyserve.__main__ is not in tinyse"
        )

    def test_what_the_server_imports_only_when_it_starts_is_imported_too(self):
        self.candidate.write("sglang/__init__.py", "")
        self.candidate.write(
            "sglang/launch_server.py",
            "if __name__ == '__main__':\n    from sglang.srt.entrypoints.http_server import launch_server\n",
        )
        self.candidate.write("sglang/srt/__init__.py", "")
        self.candidate.write("sglang/srt/entrypoints/__init__.py", "")
        self.candidate.write("sglang/srt/entrypoints/http_server.py", "import uvicorn\n")
        told = self.candidate.problems(module="sglang.launch_server", flags=False)
        self.assertEqual(
            told,
            [
                "imports: uvicorn is not installed: sglang/srt/entrypoints/http_server.py:1 imports it (import uvicorn); nothing that is installed requires a distribution of that name (uvicorn?)"
            ],
        )

    def test_bytecode_is_written_so_that_the_service_starts_quickly(self):
        self.candidate.check(env={"PYTHONDONTWRITEBYTECODE": "1"})
        self.assertTrue(os.listdir(os.path.join(self.candidate.site, "tinyserve", "__pycache__")))

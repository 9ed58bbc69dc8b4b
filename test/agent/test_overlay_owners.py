"""Code and metadata are one: whose bytes a file has that two distributions own, and what becomes of a distribution whose package another brings."""

import os
import shutil
import unittest

from agent.fault import Fault
from agent.staging import overlays, staged
from test.agent.place import PlaceTest, install, python, read, sha256, write
from test.agent.wheels import wheel

NCCL = "nvidia/nccl/lib/libnccl.so.2"
VERSIONS = "import importlib.metadata as m; print(sorted((d.metadata['Name'], d.version) for d in m.distributions()))"


class Owners(PlaceTest):
    def test_of_two_in_a_base_the_one_whose_bytes_are_there_is_named_whichever_was_installed_last(self):
        wheels = {"nvidia-nccl-cu12": b"12", "nvidia-nccl-cu13": b"13"}
        for last in wheels:
            with self.subTest(last):
                for name in sorted(wheels, key=lambda name: name == last):
                    install(self.site, name, "2.28", {NCCL: wheels[name]})
                made = self.make()
                told = [{"path": NCCL, "owners": sorted(wheels), "bytes": last + " 2.28"}]
                self.assertEqual((made["shared"], made["foreign"]), (told, {}))

    def test_bytes_that_are_of_neither_are_nobodys(self):
        for name in ("nvidia-nccl-cu12", "nvidia-nccl-cu13"):
            install(self.site, name, "2.28", {NCCL: name.encode()})
        with open(os.path.join(self.site, NCCL), "wb") as file:
            file.write(b"of somebody")
        made = self.make()
        self.assertEqual([one["bytes"] for one in made["shared"]], [""])
        self.assertEqual(sorted(made["foreign"]), ["nvidia-nccl-cu12", "nvidia-nccl-cu13"])

    def test_what_goes_leaves_a_file_that_another_owns_and_says_that_it_is_not_its_content(self):
        install(self.site, "nvidia-nccl-cu13", "1", {NCCL: b"13"})
        install(self.site, "nvidia-nccl-cu12", "1", {NCCL: b"12"})
        made = self.make([self.wheel_overlay("nvidia-nccl-cu12", "2", {"nvidia/nccl/other": "x"})])
        self.assertEqual(read(made["site"], NCCL), "12")
        self.assertEqual(
            made["replaced"],
            ["%s stays as nvidia-nccl-cu12 1 left it: nvidia-nccl-cu13 1 owns it too, with other bytes" % NCCL],
        )

    def test_a_file_that_has_to_make_way_for_a_folder_or_with_its_folder_for_a_file_is_named(self):
        install(self.site, "other", "1", {"data": "d", "nvidia/other/x.so": "x", "nvidia/y.so": "y"})
        made = self.make([self.wheel_overlay("p", "2", {"data/p.txt": "p", "nvidia/other": "o", "nvidia/z.so": "z"})])
        self.assertEqual(
            made["replaced"],
            [
                "data of other 1 went: p 2 brings a folder of that name",
                "nvidia/other/x.so of other 1 went: p 2 brings a file nvidia/other",
            ],
        )
        self.assertEqual(self.make([])["replaced"], [])


class Leftovers(PlaceTest):
    def test_of_interrupted_installs_are_told_with_the_version_of_the_code_and_only_what_is_laid_is_put_right(self):
        install(self.site, "torch", "2.11.0", {"torch/__init__.py": "", "torch/version.py": "__version__ = '2.11.0'\n"})
        write(os.path.join(self.site, "torch-2.9.1.dist-info", "METADATA"), "Name: torch\nVersion: 2.9.1\n")
        for path in ("~orch/x.py", "~orch-2.9.dist-info/METADATA", "~oo/x.py"):
            write(os.path.join(self.site, path), "")
        os.makedirs(os.path.join(self.site, "foo-1.dist-info"))
        told = [
            "~oo was left by an interrupted install",
            "~orch was left by an interrupted install",
            "~orch-2.9.dist-info was left by an interrupted install",
            "foo-1.dist-info says nothing: it has no METADATA",
            "torch has 2 metadata folders: torch-2.11.0.dist-info, torch-2.9.1.dist-info; its code says 2.11.0",
        ]
        self.assertEqual(self.make()["leftovers"], told)
        made = self.make([self.wheel_overlay("torch", "2.12", {"torch/__init__.py": ""})])
        left = [name for name in sorted(os.listdir(made["site"])) if name != "__pycache__"]
        self.assertEqual(left, ["foo-1.dist-info", "torch", "torch-2.12.dist-info", "~oo"])
        self.assertEqual(made["packages"], {"foo": "1", "torch": "2.12"})


class Labels(PlaceTest):
    @unittest.skipUnless(shutil.which("uv"), "needs uv")
    def test_another_cuda_label_of_the_version_that_is_installed_comes_from_the_index_that_is_named(self):
        install(self.site, "torch", "2.11.0+cu128", {"torch/__init__.py": "cuda = '12.8'\n", "torch/old.py": ""})
        filename, data = wheel("torch", "2.11.0+cu130", {"torch/__init__.py": "cuda = '13.0'\n"})
        write(os.path.join(self.top, "cu130", filename), data)
        for wanted in ("torch==2.11.0", "torch==2.11.0+cu130"):
            with self.subTest(wanted):
                source = {"kind": "index", "requirement": wanted, "findLinks": [os.path.join(self.top, "cu130")]}
                overlay = {"packages": ["torch"], "digest": sha256(wanted), "source": source}
                claim = self.claim("overlay")
                overlays.stage(
                    self.request(claim=claim, venv="v", digest="d", overlays=[overlay], base={"adopt": self.venv})
                )
                label = "2.11.0+cu130 " + overlay["digest"][:12]
                self.assertEqual(staged.overlays(self.layout, "v")["packages"], {"torch": label})
                made = self.make([overlay])
                self.assertEqual(made["packages"], {"torch": "2.11.0+cu130"})
                self.assertEqual(python(made["path"], "import torch; print(torch.cuda)"), "13.0")
                self.assertFalse(os.path.exists(made["site"] + "/torch/old.py"))


class Superseded(PlaceTest):
    """The attention library: distribution flashinfer-python, package flashinfer."""

    def setUp(self):
        super().setUp()
        files = {"flashinfer/__init__.py": "__version__ = '0.2'\n", "flashinfer/old.py": ""}
        install(self.site, "flashinfer-python", "0.2", files)

    def test_copied_code_without_metadata_takes_the_old_metadata_away_and_speaks_for_itself(self):
        files = {"flashinfer/__init__.py": "__version__ = '0.6'\n"}
        made = self.make([self.directory_overlay(["flashinfer"], files, "0.6")])
        self.assertEqual(made["packages"], {"flashinfer": "0.6"})
        self.assertEqual(
            made["replaced"], ["flashinfer-python 0.2 went, as its package flashinfer is that of flashinfer 0.6"]
        )
        self.assertEqual(python(made["path"], "import flashinfer; print(flashinfer.__version__)"), "0.6")
        self.assertEqual(python(made["path"], VERSIONS), "[('flashinfer', '0.6')]")
        self.assertFalse(os.path.exists(made["site"] + "/flashinfer/old.py"))

    def test_copied_code_that_is_declared_by_its_distribution_has_one_metadata_of_that_name(self):
        files = {"flashinfer/__init__.py": "__version__ = '0.6'\n"}
        made = self.make([self.directory_overlay(["flashinfer-python"], files, "0.6")])
        self.assertEqual((made["packages"], made["replaced"]), ({"flashinfer-python": "0.6"}, []))
        self.assertEqual(python(made["path"], VERSIONS), "[('flashinfer-python', '0.6')]")

    def test_a_wheel_of_the_renamed_distribution_takes_the_old_one_away(self):
        made = self.make([self.wheel_overlay("flashinfer-jit", "0.6", {"flashinfer/__init__.py": "v = 6\n"})])
        self.assertEqual(python(made["path"], VERSIONS), "[('flashinfer-jit', '0.6')]")

    def test_who_requires_the_one_that_went_is_named(self):
        install(self.site, "sglang", "0.5", {"sglang/__init__.py": ""}, requires=["flashinfer-python==0.2"])
        overlay = self.wheel_overlay("flashinfer-jit", "0.6", {"flashinfer/__init__.py": "v = 6\n"})
        with self.assertRaises(Fault) as caught:
            self.make([overlay])
        self.assertEqual(
            caught.exception.more["detail"], "sglang 0.5 wants flashinfer-python==0.2, which is not installed"
        )

    def test_a_distribution_that_has_more_than_the_shared_folder_stays(self):
        install(self.site, "other", "1", {"other/__init__.py": "o = 1\n", "tests/__init__.py": "t = 1\n"})
        made = self.make([self.wheel_overlay("p", "1", {"p/__init__.py": "p = 1\n", "tests/__init__.py": "t = 2\n"})])
        self.assertEqual((sorted(made["packages"]), made["replaced"]), (["flashinfer-python", "other", "p"], []))

    def test_members_of_a_namespace_stay(self):
        for init in ("", "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"):
            install(self.site, "google-auth", "1", {"google/__init__.py": init, "google/auth/__init__.py": "a = 1\n"})
            overlay = self.wheel_overlay(
                "protobuf", "1", {"google/__init__.py": init, "google/pb/__init__.py": "p = 1"}
            )
            made = self.make([overlay])
            self.assertEqual((made["replaced"], made["packages"]["google-auth"]), ([], "1"))

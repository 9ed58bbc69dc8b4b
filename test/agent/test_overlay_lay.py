"""Overlays as they are laid: what they replace disappears whole, what others own stays and is said."""

import os
import subprocess

from agent.fault import Fault
from agent.venv import dists, look
from test.agent.place import PlaceTest, install, python, read, write


class Lay(PlaceTest):
    def test_the_old_distribution_disappears_whole_with_what_was_copied_into_it(self):
        install(
            self.site,
            "torch",
            "2.9",
            {"torch/__init__.py": "v = 9\n", "torch/old.py": "", "torch/lib/libold.so": b"\x7fELF"},
            entry_points={"torchrun": "torch:old"},
        )
        write(os.path.join(self.site, "torch", "copied_by_hand.py"), "")
        python(self.venv, "import torch.old")
        made = self.make([self.wheel_overlay("torch", "2.11", {"torch/__init__.py": "v = 11\n", "torch/new.py": ""})])
        self.assertEqual(sorted(os.listdir(made["site"] + "/torch")), ["__init__.py", "__pycache__", "new.py"])
        self.assertEqual(
            sorted(name.split(".")[0] for name in os.listdir(made["site"] + "/torch/__pycache__")), ["__init__", "new"]
        )
        self.assertEqual(made["packages"], {"torch": "2.11"})
        self.assertFalse(os.path.exists(made["path"] + "/bin/torchrun"))
        self.assertEqual(python(made["path"], "import torch; print(torch.v)"), "11")

    def test_debris_and_second_metadata_of_what_is_laid_go_and_what_is_not_ours_stays(self):
        install(self.site, "torch", "2.9.1", {"torch/__init__.py": ""})
        for path in (
            "~orch/x.py",
            "~-rch/x.py",
            "~orch-2.9.dist-info/METADATA",
            "torch-2.8.0.dist-info/METADATA",
            "~oo/x.py",
            "foo-1.dist-info/",
        ):
            write(os.path.join(self.site, path), "") if not path.endswith("/") else os.makedirs(
                os.path.join(self.site, path)
            )
        made = self.make([self.wheel_overlay("torch", "2.11.0", {"torch/__init__.py": ""})])
        self.assertEqual(
            [name for name in sorted(os.listdir(made["site"])) if name != "__pycache__"],
            ["foo-1.dist-info", "torch", "torch-2.11.0.dist-info", "~oo"],
        )
        self.assertEqual(look.venvs(self.layout)[0]["v"]["releases"][made["release"]]["driftCount"], 0)

    def test_a_shared_namespace_keeps_the_files_of_others(self):
        install(self.site, "nvidia-cublas", "1", {"nvidia/cublas/lib/libcublas.so": b"b", "nvidia/__init__.py": ""})
        install(self.site, "nvidia-nccl-cu12", "1", {"nvidia/nccl/lib/libnccl.so.2": b"12", "nvidia/__init__.py": ""})
        made = self.make(
            [
                self.wheel_overlay(
                    "nvidia-cublas", "2", {"nvidia/cublas/lib/libcublas.so.2": b"c", "nvidia/__init__.py": ""}
                )
            ]
        )
        self.assertEqual(os.listdir(made["site"] + "/nvidia/cublas/lib"), ["libcublas.so.2"])
        self.assertEqual(read(made["site"], "nvidia/nccl/lib/libnccl.so.2"), "12")
        self.assertEqual(made["shared"], [])

    def test_a_file_that_two_distributions_own_is_said_with_whose_bytes_live(self):
        install(self.site, "nvidia-nccl-cu12", "1", {"nvidia/nccl/lib/libnccl.so.2": b"12"})
        overlay = self.wheel_overlay("nvidia-nccl-cu13", "2", {"nvidia/nccl/lib/libnccl.so.2": b"13"})
        made = self.make([overlay])
        self.assertEqual(read(made["site"], "nvidia/nccl/lib/libnccl.so.2"), "13")
        self.assertEqual(
            made["shared"],
            [
                {
                    "path": "nvidia/nccl/lib/libnccl.so.2",
                    "owners": ["nvidia-nccl-cu12", "nvidia-nccl-cu13"],
                    "bytes": "nvidia-nccl-cu13 2",
                }
            ],
        )

    def test_removing_one_owner_keeps_the_file_of_the_other(self):
        install(self.site, "nvidia-nccl-cu12", "1", {"nvidia/nccl/lib/libnccl.so.2": b"12", "nvidia/nccl/a": "a"})
        install(self.site, "nvidia-nccl-cu13", "1", {"nvidia/nccl/lib/libnccl.so.2": b"13"})
        made = self.make([self.wheel_overlay("nvidia-nccl-cu12", "2", {"nvidia/nccl/b": "b"})])
        self.assertEqual(read(made["site"], "nvidia/nccl/lib/libnccl.so.2"), "13")
        self.assertEqual(sorted(os.listdir(made["site"] + "/nvidia/nccl")), ["b", "lib"])
        self.assertEqual(made["shared"], [])

    def test_later_overlays_win_in_declared_order(self):
        overlays = [
            self.wheel_overlay("p", "1", {"p.py": "v = 1\n", "only1.py": ""}),
            self.wheel_overlay("p", "2", {"p.py": "v = 2\n"}),
        ]
        made = self.make(overlays)
        self.assertEqual(
            (made["packages"], read(made["site"], "p.py"), os.path.exists(made["site"] + "/only1.py")),
            ({"p": "2"}, "v = 2\n", False),
        )

    def test_a_package_without_any_metadata_is_replaced_whole(self):
        write(os.path.join(self.site, "sglang", "__init__.py"), "")
        write(os.path.join(self.site, "sglang", "old.py"), "")
        made = self.make([self.wheel_overlay("sglang", "1", {"sglang/__init__.py": "", "sglang/new.py": ""})])
        self.assertEqual(sorted(os.listdir(made["site"] + "/sglang")), ["__init__.py", "__pycache__", "new.py"])

    def test_a_module_that_becomes_a_package_and_back(self):
        install(self.site, "p", "1", {"p.py": "v = 1\n"})
        made = self.make([self.wheel_overlay("p", "2", {"p/__init__.py": "v = 2\n"})])
        self.assertEqual(python(made["path"], "import p; print(p.v)"), "2")
        made = self.make(
            [
                self.wheel_overlay("p", "2", {"p/__init__.py": "v = 2\n"}),
                self.wheel_overlay("p", "3", {"p.py": "v = 3\n"}),
            ]
        )
        self.assertEqual(python(made["path"], "import p; print(p.v)"), "3")

    def test_a_console_script_of_an_overlay_runs_in_the_release(self):
        made = self.make(
            [
                self.wheel_overlay(
                    "p",
                    "1",
                    {"p.py": "import sys\ndef main():\n    print(sys.prefix)\n"},
                    entry_points={"p-where": "p:main"},
                    data={"share/p/x": "x"},
                )
            ]
        )
        self.assertEqual(subprocess.check_output([made["path"] + "/bin/p-where"]).decode().strip(), made["path"])
        self.assertEqual(read(made["path"], "share/p/x"), "x")

    def test_a_distribution_that_would_bring_the_venv_s_own_interpreter_or_config_is_refused(self):
        for path in ("data/pyvenv.cfg", "scripts/python3", "data/bin/activate"):
            with self.subTest(path), self.assertRaises(Fault) as refused:
                self.make([self.wheel_overlay("odd", "1", {"odd/__init__.py": "", "odd-1.data/" + path: "x"})])
            own = path.replace("scripts/", "bin/").replace("data/", "")
            self.assertEqual(refused.exception.message, "the overlay of odd 1 would replace the venv's own " + own)

    def test_a_wheel_for_another_python_is_refused_by_its_tags(self):
        fault = self.fault(
            "wrong-wheel", [self.wheel_overlay("p", "1", {"p.py": ""}, tag="cp27-cp27mu-manylinux1_x86_64")]
        )
        self.assertEqual(fault.more["found"], "cp27-cp27mu-manylinux1_x86_64")

    def test_old_eggs_go_by_what_they_noted(self):
        write(os.path.join(self.site, "old-1-py3.egg-info", "PKG-INFO"), "Name: old\nVersion: 1\n")
        write(
            os.path.join(self.site, "old-1-py3.egg-info", "installed-files.txt"),
            "../old/__init__.py\n../old/a.py\nPKG-INFO\n",
        )
        write(os.path.join(self.site, "old", "__init__.py"), "")
        write(os.path.join(self.site, "old", "a.py"), "")
        made = self.make([self.wheel_overlay("old", "2", {"old/__init__.py": ""})])
        self.assertEqual(made["packages"], {"old": "2"})
        self.assertFalse(os.path.exists(made["site"] + "/old/a.py"))

    def test_normalised_names_find_the_distribution_whatever_it_is_written_as(self):
        self.assertEqual(dists.normalise("Flash__Attn.X"), "flash-attn-x")
        install(self.site, "Flash_Attn", "1", {"flash_attn/a.py": ""})
        made = self.make([self.wheel_overlay("flash-attn", "2", {"flash_attn/b.py": ""})])
        self.assertEqual(made["packages"], {"flash-attn": "2"})


class Consistency(PlaceTest):
    def fault(self, *args, **more):
        with self.assertRaises(Fault) as caught:
            self.make(*args, **more)
        self.assertEqual(caught.exception.code, "inconsistent", caught.exception.report())
        self.assertEqual(caught.exception.more["gate"], "consistency")
        return caught.exception.more["detail"].splitlines()

    def test_all_that_an_overlay_wants_and_nobody_brings_is_said_at_once(self):
        overlay = self.wheel_overlay(
            "sglang",
            "0.5",
            {"sglang/__init__.py": ""},
            requires=["pybase64", "torchvision>=0.20", "never; sys_platform == 'win32'", "opt; extra == 'all'"],
        )
        self.assertEqual(
            self.fault([overlay]),
            [
                "sglang 0.5 wants pybase64, which is not installed",
                "sglang 0.5 wants torchvision>=0.20, which is not installed",
            ],
        )
        self.make(
            [
                overlay,
                self.wheel_overlay("pybase64", "1", {"pybase64.py": ""}),
                self.wheel_overlay("torchvision", "0.21", {"torchvision.py": ""}),
            ]
        )

    def test_who_wants_the_old_version_is_named(self):
        install(self.site, "torch", "2.9.1", {"torch.py": ""})
        install(self.site, "torchvision", "0.24", {"torchvision.py": ""}, requires=["torch==2.9.1"])
        overlay = self.wheel_overlay("torch", "2.11.0", {"torch.py": ""})
        self.assertEqual(self.fault([overlay]), ["torchvision 0.24 wants torch==2.9.1, found 2.11.0"])
        self.assertTrue(self.make([overlay], checks={"accept": ["torch"]})["made"])

    def test_another_cuda_label_of_the_same_version_is_no_conflict(self):
        install(self.site, "torch", "2.11.0+cu128", {"torch.py": ""})
        install(self.site, "torchvision", "0.24", {"torchvision.py": ""}, requires=["torch==2.11.0"])
        self.assertEqual(
            self.make([self.wheel_overlay("torch", "2.11.0+cu130", {"torch.py": ""})])["packages"]["torch"],
            "2.11.0+cu130",
        )

    def test_what_the_base_never_had_does_not_block_and_is_noted_for_sglang(self):
        install(self.site, "sglang", "0.5", {"sglang/__init__.py": ""}, requires=["pybase64", "torch"])
        install(self.site, "other", "1", {"other.py": ""}, requires=["nowhere"])
        made = self.make([self.wheel_overlay("torch", "2", {"torch.py": ""})])
        self.assertEqual(made["notes"], ["sglang 0.5 wants pybase64, which is not installed"])

    def test_what_a_removed_distribution_provided_is_missed(self):
        install(self.site, "kernel", "1", {"kernel/__init__.py": ""})
        install(self.site, "sglang", "0.5", {"sglang/__init__.py": ""}, requires=["kernel==1"])
        self.assertEqual(
            self.fault([self.directory_overlay(["kernel"], {"kernel/__init__.py": ""}, "2")]),
            ["sglang 0.5 wants kernel==1, found 2"],
        )

    def test_extras_are_followed(self):
        overlay = self.wheel_overlay("a", "1", {"a.py": ""}, requires=["b[fast]"])
        b = self.wheel_overlay("b", "1", {"b.py": ""}, requires=["c; extra == 'fast'", "d; extra == 'slow'"])
        self.assertEqual(self.fault([b, overlay]), ["a 1 wants c, which is not installed"])

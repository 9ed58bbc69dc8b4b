"""Donors: what belongs to a distribution of a real venv."""

import os

from agent.fault import Fault
from agent.ops import find
from agent.request import Request
from test.agent.donor_place import DonorPlace
from test.agent.place import identity, read, write


class Donors(DonorPlace):
    def test_a_distribution_is_its_recorded_files_and_what_lies_in_folders_of_its_own(self):
        write(os.path.join(self.there, "torch", "_compiled", "k.so"), "by hand")
        write(os.path.join(self.there, "torch", "__pycache__", "x.cpython-311.pyc"), "")
        write(os.path.join(self.there, "nvidia", "loose.txt"), "nobody's")
        self.assertEqual(
            sorted(self.places("torch")),
            sorted(
                ["bin/torchrun", "site/torch/__init__.py", "site/torch/_compiled/k.so", "site/torch/lib/c.so"]
                + ["site/torchgen/__init__.py"]
                + ["site/torch-2.11.0+cu130.dist-info/" + name for name in ("METADATA", "WHEEL")]
            ),
        )
        self.assertEqual(
            sorted(place for place in self.places("nvidia-a") if ".dist-info" not in place),
            ["site/nvidia/__init__.py", "site/nvidia/a/a.so"],
        )

    def test_patterns_mean_distributions_by_their_normal_names(self):
        self.assertEqual([one["name"] for one in self.look("NVIDIA_*", "torch")], ["nvidia-a", "nvidia-b", "torch"])

    def test_every_pattern_that_matches_nothing_is_named_with_the_nearest_names(self):
        fault = self.refused("no-match", "tortch", "torchgen", "nvidia-*", "xyz")
        self.assertEqual(
            fault.message,
            "`tortch` matches no distribution there; nearest: torch; "
            "`torchgen` is a part of torch 2.11.0+cu130 and goes with it; name that instead; "
            "`xyz` matches no distribution there; it has nvidia-a, nvidia-b, torch",
        )
        self.assertEqual(fault.more["where"], self.donor)

    def test_what_was_hashed_before_is_not_hashed_again_until_a_stat_differs(self):
        [first] = self.look("torch")
        known = {"torch": {first["stamp"]: first["digest"]}}
        [again] = self.look("torch", known=known)
        self.assertEqual((again["digest"], again["listing"], self.listings), (first["digest"], 0, b""))
        write(os.path.join(self.there, "torch", "lib", "c.so"), "ELF")
        [changed] = self.look("torch", known=known)
        self.assertNotEqual(changed["digest"], first["digest"])
        write(os.path.join(self.there, "torch", "lib", "c.so"), "elf")
        [back] = self.look("torch", known=known)
        self.assertEqual((back["digest"], back["stamp"] == first["stamp"]), (first["digest"], False))

    def test_a_look_and_a_fetch_write_nothing_on_the_donor(self):
        before = identity(self.donor)
        self.overlay("torch")
        out = []
        args = {
            "venv": self.donor,
            "files": [{"place": "site/torch/lib/c.so", "size": 3}, {"place": "bin/torchrun", "size": 1}],
        }
        with self.assertRaises(Fault) as caught:
            find("donor.get")(Request(args, reply=out.append))
        self.assertEqual(caught.exception.code, "donor-changed")
        self.assertEqual(identity(self.donor), before)

    def test_a_link_inside_stays_a_link_and_one_that_leads_out_becomes_the_file(self):
        os.symlink("c.so", os.path.join(self.there, "torch", "lib", "c.so.1"))
        write(os.path.join(self.top, "elsewhere.so"), "far")
        os.symlink(os.path.join(self.top, "elsewhere.so"), os.path.join(self.there, "torch", "lib", "far.so"))
        places = self.places("torch")
        self.assertEqual((places["site/torch/lib/c.so.1"], places["site/torch/lib/far.so"]), ("120000", "644"))
        path = self.staged(self.overlay("torch"))
        self.assertEqual(os.readlink(path + "/site/torch/lib/c.so.1"), "c.so")
        self.assertEqual(read(path, "site/torch/lib/far.so"), "far")

    def test_recorded_files_that_are_gone_or_out_of_the_venv_are_said(self):
        os.unlink(os.path.join(self.there, "torchgen", "__init__.py"))
        record = os.path.join(self.there, "torch-2.11.0+cu130.dist-info", "RECORD")
        write(record, read(record) + "/etc/torch.conf,,\n")
        [found] = self.look("torch")
        self.assertEqual(
            found["notes"],
            [
                "1 recorded file out of the venv, /etc/torch.conf the first: not taken",
                "1 recorded file not on the donor, site/torchgen/__init__.py the first",
            ],
        )

    def test_two_installations_of_one_name_are_refused(self):
        write(os.path.join(self.there, "torch-2.9.dist-info", "METADATA"), "Name: torch\nVersion: 2.9\n")
        fault = self.refused("unclear-donor", "torch")
        self.assertEqual(fault.more["found"], "torch-2.11.0+cu130.dist-info and torch-2.9.dist-info")

    def test_an_extension_for_one_python_binds_whatever_the_wheel_says(self):
        write(os.path.join(self.there, "torch", "_C.cpython-39-x86_64-linux-gnu.so"), "elf")
        [found] = self.look("torch")
        self.assertEqual(found["tags"], ["cp39-cp39-linux_x86_64"])
        one = {"about": "torch 2.11.0+cu130", "tags": found["tags"]}
        with self.assertRaises(Fault) as caught:
            find("overlay.fits")(self.request(base={"adopt": self.venv}, overlays=[one]))
        self.assertEqual(caught.exception.code, "wrong-wheel")
        self.assertEqual(caught.exception.more["found"], "cp39-cp39-linux_x86_64")
        # What a version names is known only once uv has found it.
        self.assertEqual(find("overlay.fits")(self.request(base={"python": "3.12"}, overlays=[one])), {})

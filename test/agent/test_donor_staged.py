"""Donors: what is brought to a host, and what is staged of it."""

import base64
import hashlib
import os
import shutil

from agent.donor import listing
from agent.fault import Fault
from agent.ops import find
from test.agent.donor_place import DonorPlace
from test.agent.place import identity, install, read, sha256, write


class Staged(DonorPlace):
    def test_a_staged_tree_tells_the_truth_of_itself_and_shares_its_bytes_with_the_store(self):
        path = self.staged(self.overlay("torch"))
        self.assertEqual(read(path, "site/torch-2.11.0+cu130.dist-info/INSTALLER"), "pulumi-sglang\n")
        rows = {}
        for line in read(path, "site/torch-2.11.0+cu130.dist-info/RECORD").splitlines():
            name, digest, size = line.rsplit(",", 2)
            rows[name] = (digest, size)
        self.assertIn("../../../bin/torchrun", rows)
        for name, (digest, size) in rows.items():
            place = "bin/torchrun" if name.startswith("../") else "site/" + name
            data = read(path, place).encode()
            if not name.endswith("/RECORD"):
                wanted = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                self.assertEqual((digest, size), ("sha256=" + wanted, str(len(data))), name)
        self.assertEqual(
            os.stat(path + "/site/torch/lib/c.so").st_ino, os.stat(self.layout.content(sha256("elf"))).st_ino
        )

    def test_a_tree_that_goes_takes_its_bytes_out_of_the_store_and_leaves_those_of_others(self):
        first = self.overlay("nvidia-a")
        self.staged(first, self.overlay("nvidia-b"))
        write(os.path.join(self.there, "nvidia", "a", "a.so"), "A")
        second = self.overlay("nvidia-a")
        self.staged(second, self.overlay("nvidia-b"))
        self.assertTrue(os.path.exists(self.layout.content(sha256("a"))))
        write(os.path.join(self.there, "nvidia", "a", "a.so"), "AA")
        self.staged(self.overlay("nvidia-a"), self.overlay("nvidia-b"))
        self.assertFalse(os.path.exists(self.layout.tree(first["digest"])))
        self.assertFalse(os.path.exists(self.layout.content(sha256("a"))))
        for text in ("A", "AA", "b", ""):
            self.assertTrue(os.path.exists(self.layout.content(sha256(text))), text)

    def test_a_tree_that_goes_leaves_the_bytes_that_a_patch_has_as_well(self):
        self.stage((), [self.file_patch("torch/lib/c.so", "elf")])
        for text in ("elf", "1", "2"):
            write(os.path.join(self.there, "torch", "lib", "c.so"), text)
            write(os.path.join(self.there, "torch", "more.so"), "more of " + text)
            self.staged(self.overlay("torch"))
        self.assertTrue(os.path.exists(self.layout.content(sha256("elf"))))
        self.assertFalse(os.path.exists(self.layout.content(sha256("more of elf"))))

    def test_a_content_with_other_bytes_than_its_name_is_missed_and_taken_out(self):
        overlay = self.overlay("torch")
        content = self.layout.content(sha256("elf"))
        os.chmod(content, 0o644)
        write(content, "fle")
        with self.assertRaises(Fault) as caught:
            self.staged(overlay)
        self.assertEqual(
            (caught.exception.code, caught.exception.more["where"]), ("missing-content", "site/torch/lib/c.so")
        )
        self.assertFalse(os.path.exists(content))
        self.staged(self.overlay("torch"))

    def test_what_was_changed_since_the_look_is_not_taken(self):
        write(os.path.join(self.there, "torch", "lib", "c.so"), "ELF")
        file = {"place": "site/torch/lib/c.so", "sha256": sha256("elf"), "size": 3}
        with self.assertRaises(Fault) as caught:
            find("donor.take")(self.request(venv=self.donor, files=[file]))
        self.assertEqual((caught.exception.code, caught.exception.more["found"]), ("donor-changed", sha256("ELF")))
        self.assertEqual(os.listdir(self.layout.at("store", "incoming")), [])

    def wanted(self, package):
        """What the provider asks the base for: the files of the listing of one distribution."""
        self.look(package)
        path = os.path.join(self.top, "listing")
        write(path, self.listings)
        entries = [one for one in listing.read(path) if one.sha256]
        return [{"place": one.place, "sha256": one.sha256, "size": one.size} for one in entries]

    def test_what_the_base_has_with_the_same_bytes_at_the_same_place_is_copied_and_need_not_travel(self):
        install(
            self.site,
            "torch",
            "2.11.0+cu128",
            {"torch/lib/c.so": "elf", "torch/__init__.py": "V = 'old'\n", "else": "a"},
        )
        before = identity(self.venv)
        args = {"venv": "v", "base": {"adopt": self.venv}}
        answer = find("donor.reuse")(self.request(files=self.wanted("torch") + self.wanted("nvidia-a"), **args))
        self.assertEqual(answer, {"reused": [sha256("elf")], "bytes": 3})
        self.assertEqual(read(self.layout.content(sha256("elf"))), "elf")
        self.assertFalse(os.path.exists(self.layout.content(sha256("V = 'old'\n"))))
        self.assertEqual(identity(self.venv), before)
        self.assertEqual(os.listdir(self.layout.at("store", "incoming")), [])

    def test_a_base_that_was_made_before_has_something_to_offer_as_well_and_one_that_is_not_there_has_nothing(self):
        files = self.wanted("torch")
        nothing = {"reused": [], "bytes": 0}
        for base in ({"python": "3.11"}, {"adopt": os.path.join(self.top, "nowhere")}, None):
            self.assertEqual(find("donor.reuse")(self.request(venv="v", base=base, files=files)), nothing)
        shutil.copytree(self.donor, self.layout.base("v", "k"), symlinks=True)
        answer = find("donor.reuse")(self.request(venv="v", base={"python": "3.11"}, files=files))
        self.assertIn(sha256("elf"), answer["reused"])

    def test_a_listing_that_leads_out_of_its_tree_is_refused(self):
        for place in ("../x", "site/../../x", "/etc/x", "other/x", "site", "site//x"):
            path = os.path.join(self.top, "evil")
            write(path, "sglang listing 1 a 1\n644\t0\t%s\t%s\n" % ("0" * 64, place))
            with self.assertRaises(Fault, msg=place) as caught:
                listing.read(path)
            self.assertEqual(caught.exception.code, "bad-path")
        write(path, "sglang listing 1 a 1\n120000\t0\t../../x\tsite/a\n")
        with self.assertRaises(Fault):
            listing.read(path)

"""Donors that are not in order: names, links and RECORDs as hands, file systems and lost writes leave them."""

import os

from agent.donor import listing
from agent.fault import Fault
from agent.ops import find
from agent.request import Request
from test.agent.donor_place import DonorPlace
from test.agent.place import write

INFO = "torch-2.11.0+cu130.dist-info"


class OddDonors(DonorPlace):
    def at(self, *parts):
        return os.path.join(self.there, *parts)

    def test_names_of_any_bytes_and_of_any_length_come_along_and_the_listing_is_utf_8_all_the_same(self):
        names = [b"\xff\xfe.txt", b"a\tb", b"a\nb", b"a\\xffb", b"a\\b", "a\u2028b".encode(), b"n" * 255, b"A", b"a"]
        names.append(b"m" * 252 + b".py")
        for name in names:
            with open(os.fsencode(self.at("torch")) + b"/" + name, "wb") as file:
                file.write(name)
        wanted = self.overlay("torch")
        self.listings.decode("utf-8")
        laid = os.fsencode(os.path.join(self.make([wanted])["site"], "torch"))
        for name in names:
            with open(laid + b"/" + name, "rb") as file:
                self.assertEqual(file.read(), name)

    def test_a_link_that_leads_nowhere_to_itself_or_up_is_not_taken(self):
        for target, name in (
            ("/nowhere", "dangling"),
            (self.at("torch", "self"), "self"),
            ("..", "up"),
            (self.donor, "venv"),
        ):
            os.symlink(target, self.at("torch", name))
        places = [place for place in self.places("torch") if place.startswith("site/torch/")]
        self.assertEqual(sorted(places), ["site/torch/__init__.py", "site/torch/lib/c.so"])

    def test_what_is_no_file_is_not_taken_and_the_modes_are_plain(self):
        os.mkfifo(self.at("torch", "pipe"))
        os.chmod(self.at("torch", "lib", "c.so"), 0o6755)
        places = self.places("torch")
        self.assertNotIn("site/torch/pipe", places)
        self.assertEqual(places["site/torch/lib/c.so"], "755")

    def test_a_distribution_without_a_record_is_refused_when_nothing_else_says_what_is_its_own(self):
        record = self.at(INFO, "RECORD")
        for text, found in (
            (None, "no RECORD"),
            ("", "a RECORD that lists nothing"),
            ("torch/__init__.py,,\n\0\0\0\0", "a RECORD that lists nothing"),
            ('"torch/__init__.py,,\n' + "x" * 200000, "a RECORD that lists nothing"),
        ):
            os.unlink(record)
            if text is not None:
                write(record, text)
            fault = self.refused("unclear-donor", "torch")
            self.assertEqual(fault.message, "torch 2.11.0+cu130 does not say on the donor what belongs to it")
            self.assertEqual((fault.more["found"], fault.more["where"]), (found, record))
            write(record, "")

    def test_without_a_record_what_top_level_txt_names_is_taken_and_that_is_said(self):
        os.unlink(self.at(INFO, "RECORD"))
        write(self.at(INFO, "top_level.txt"), "torch\ntorchgen\n")
        [found] = self.look("torch")
        self.assertEqual(
            found["notes"], ["no RECORD on the donor: what its top_level.txt names is taken, and no scripts"]
        )
        self.assertIn("site/torchgen/__init__.py", self.places("torch"))

    def test_a_file_that_is_something_else_by_the_time_it_is_fetched_is_named(self):
        path = self.at("torch", "lib", "c.so")

        def became(what):
            os.unlink(path)
            what()
            with self.assertRaises(Fault) as caught:
                args = {"venv": self.donor, "files": [{"place": "site/torch/lib/c.so", "size": 3}]}
                find("donor.get")(Request(args, reply=lambda data: None))
            (os.rmdir if os.path.isdir(path) else os.unlink)(path)
            write(path, "elf")
            self.assertEqual((caught.exception.code, caught.exception.more["where"]), ("donor-changed", path))
            return caught.exception.more["found"]

        self.assertEqual(became(lambda: os.mkdir(path)), "no file")
        self.assertEqual(became(lambda: os.mkfifo(path)), "no file")
        self.assertEqual(became(lambda: os.symlink("c.so", path)), "nothing")
        self.assertEqual(became(lambda: write(path, "longer")), "6 bytes")

    def test_a_listing_of_before_with_names_as_they_are_can_still_be_read(self):
        path = os.path.join(self.top, "listing")
        with open(path, "wb") as file:
            file.write(b"sglang listing 1 x 1\n644\t0\t" + b"0" * 64 + b"\tsite/x/\xff\\\\xff\n")
        [entry] = listing.read(path)
        self.assertEqual(os.fsencode(entry.place), b"site/x/\xff\\xff")

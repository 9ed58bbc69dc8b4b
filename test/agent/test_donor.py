"""Donors: what belongs to a distribution of a real venv, how it is taken, and what becomes of it where it is laid."""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import unittest

from agent.donor import listing
from agent.fault import Fault
from agent.ops import find
from agent.request import Request
from agent.staging import overlays
from test.agent.place import PlaceTest, identity, install, new_venv, python, read, sha256, write
from test.agent.wheels import wheel


class DonorPlace(PlaceTest):
    """self.donor: a second real venv, with `torch` (folders of its own, a script, data) and two distributions that share `nvidia`."""

    def setUp(self):
        super().setUp()
        self.donor = os.path.join(self.top, "ml-env")
        new_venv(self.donor)
        self.there = self.site.replace(self.venv, self.donor)
        install(
            self.there,
            "torch",
            "2.11.0+cu130",
            {"torch/__init__.py": "V = 'new'\n", "torch/lib/c.so": "elf", "torchgen/__init__.py": ""},
            scripts={"torchrun": "#!python\nimport torch\nprint(torch.V)\n"},
        )
        install(self.there, "nvidia-a", "13.0", {"nvidia/__init__.py": "", "nvidia/a/a.so": "a"})
        install(self.there, "nvidia_b", "13.1", {"nvidia/__init__.py": "", "nvidia/b/b.so": "b"})

    def look(self, *packages, **args):
        out = []
        request = Request(dict(args, venv=self.donor, packages=list(packages)), reply=out.append)
        found = find("donor.look")(request)
        self.listings = b"".join(out)
        return found["packages"]

    def places(self, package):
        """{place: mode} of the listing of one distribution."""
        self.look(package)
        path = os.path.join(self.top, "listing")
        write(path, self.listings)
        return {entry.place: entry.mode for entry in listing.read(path)}

    def overlay(self, package):
        """A donor's Overlay, with its listing and its contents brought as the provider brings them."""
        [found] = self.look(package)
        digest = self.store(self.listings)
        self.assertEqual(digest, found["digest"])
        entries = [one for one in listing.read(self.layout.content(digest)) if one.sha256]
        files = [{"place": one.place, "sha256": one.sha256, "size": one.size} for one in entries]
        find("donor.take")(self.request(venv=self.donor, files=files))
        source = {"kind": "donor", "listing": digest, "venv": self.donor, "host": "ct129", "asked": [package]}
        return {"packages": [found["name"]], "digest": digest, "source": source}

    def refused(self, code, *packages):
        with self.assertRaises(Fault) as caught:
            self.look(*packages)
        self.assertEqual(caught.exception.code, code)
        return caught.exception

    def staged(self, *wanted):
        """Stages overlays; the path of the first one's tree."""
        args = {"claim": self.claim("overlay"), "venv": "v", "digest": "d" * 64, "overlays": list(wanted)}
        overlays.stage(self.request(**args))
        return self.layout.tree(wanted[0]["digest"])


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

    def editable(self, name, pth, **more):
        """An editable install as setuptools leaves it: `pth` is the line of its .pth, `more` files of site-packages."""
        source = os.path.join(self.top, "checkout")
        info = os.path.join(self.there, name + "-1.dist-info")
        files = dict(more, **{"__editable__.%s.pth" % name: pth % source + "\n"})
        for path, text in files.items():
            write(os.path.join(self.there, path), text % {"source": source} if "%(" in text else text)
        write(os.path.join(info, "METADATA"), "Name: %s\nVersion: 1\n" % name)
        write(os.path.join(info, "RECORD"), "".join(path + ",,\n" for path in [name + "-1.dist-info/METADATA", *files]))
        url = {"url": "file://" + source, "dir_info": {"editable": True}}
        write(os.path.join(info, "direct_url.json"), json.dumps(url))
        return source

    def test_an_editable_install_is_taken_from_its_source_tree_as_an_ordinary_one(self):
        source = self.editable("my-ed", "%s/python")
        for path in (
            "my_ed/__init__.py",
            "my_ed/srt/x.py",
            "my_ed/.git/config",
            "my_ed/__pycache__/x.pyc",
            "tests/t.py",
        ):
            write(os.path.join(source, "python", path), "# " + path)
        before = (identity(source), identity(self.donor))
        places = self.places("my-ed")
        self.assertEqual(
            sorted(places),
            ["site/my-ed-1.dist-info/METADATA", "site/my_ed/__init__.py", "site/my_ed/srt/x.py"],
        )
        self.assertEqual((identity(source), identity(self.donor)), before)
        path = self.staged(self.overlay("my-ed"))
        self.assertEqual(read(path, "site/my_ed/srt/x.py"), "# my_ed/srt/x.py")
        out = []
        files = [{"place": "site/my_ed/srt/x.py", "size": 16}]
        find("donor.get")(Request({"venv": self.donor, "files": files}, reply=out.append))
        self.assertEqual(b"".join(out), b"# my_ed/srt/x.py")

    def test_an_editable_install_with_a_finder_is_taken_as_well(self):
        finder = "MAPPING = {'ed': '%(source)s/src/ed', 'one': '%(source)s/one.py'}\nNAMESPACES = {}\n"
        source = self.editable("ed", "import __editable___ed_finder; # %s", **{"__editable___ed_finder.py": finder})
        write(os.path.join(source, "src", "ed", "__init__.py"), "")
        write(os.path.join(source, "one.py"), "")
        self.assertEqual(
            sorted(self.places("ed")), ["site/ed-1.dist-info/METADATA", "site/ed/__init__.py", "site/one.py"]
        )

    def test_an_editable_install_whose_packages_nothing_names_is_refused_with_where_its_source_is(self):
        source = self.editable("ed", "%s")
        write(os.path.join(source, "another", "__init__.py"), "")
        fault = self.refused("editable-donor", "ed", "torch")
        self.assertEqual(
            fault.message, "ed 1 is editable on the donor, and its source tree does not say which packages are its own"
        )
        self.assertEqual(fault.more["found"], source)

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


class Laying(DonorPlace):
    """What was taken is laid over an adopted venv with an older torch, debris of interrupted installs and files added by hand."""

    def setUp(self):
        super().setUp()
        install(self.site, "torch", "2.11.0+cu128", {"torch/__init__.py": "V = 'old'\n", "torch/old.py": ""})
        write(os.path.join(self.site, "torch-2.9.1.dist-info", "METADATA"), "Name: torch\nVersion: 2.9.1\n")
        write(os.path.join(self.site, "~orch", "x.py"), "")
        write(os.path.join(self.site, "torch", "by_hand.py"), "")
        write(os.path.join(self.site, "unrelated.py"), "")
        install(self.site, "nvidia-old", "12.8", {"nvidia/__init__.py": "", "nvidia/old/o.so": "o"})

    def listed(self, site):
        return sorted(
            os.path.relpath(os.path.join(folder, name), site)
            for folder, _folders, names in os.walk(site)
            for name in names
            if not name.endswith(".pyc") and not name.startswith("_virtualenv")
        )

    def test_code_and_metadata_move_as_one_and_what_is_replaced_disappears_whole(self):
        made = self.make([self.overlay("torch"), self.overlay("nvidia-a")])
        files = self.listed(made["site"])
        self.assertEqual(
            sorted({name.split("/")[0] for name in files}),
            ["nvidia", "nvidia_a-13.0.dist-info", "nvidia_old-12.8.dist-info"]
            + ["torch", "torch-2.11.0+cu130.dist-info", "torchgen", "unrelated.py"],
        )
        self.assertEqual(
            [name for name in files if name.startswith(("torch/", "nvidia/"))],
            ["nvidia/__init__.py", "nvidia/a/a.so", "nvidia/old/o.so", "torch/__init__.py", "torch/lib/c.so"],
        )
        self.assertEqual(python(made["path"], "import torch; print(torch.V, torch.__file__)").split()[0], "new")
        run = subprocess.run([os.path.join(made["path"], "bin", "torchrun")], capture_output=True)
        self.assertEqual((run.stdout, run.stderr), (b"new\n", b""))

    def test_without_the_overlay_the_bytes_of_the_base_are_back(self):
        plain = self.make()
        before = {name: read(plain["site"], name) for name in self.listed(plain["site"])}
        self.make([self.overlay("torch")])
        back = self.make(release="back")
        self.assertEqual({name: read(back["site"], name) for name in self.listed(back["site"])}, before)
        self.assertEqual(python(back["path"], "import torch; print(torch.V)"), "old")

    def test_neither_the_donor_nor_the_base_shares_an_inode_with_a_release(self):
        made = self.make([self.overlay("torch")])
        ours = {os.stat(os.path.join(made["site"], name)).st_ino for name in self.listed(made["site"])}
        for site in (self.site, self.there):
            self.assertEqual(ours & {os.stat(os.path.join(site, name)).st_ino for name in self.listed(site)}, set())

    @unittest.skipUnless(shutil.which("uv"), "needs uv")
    def test_a_later_ordinary_install_replaces_it_whole(self):
        made = self.make([self.overlay("torch")])
        copy = os.path.join(self.top, "copy")
        shutil.copytree(made["path"], copy, symlinks=True)
        filename, data = wheel("torch", "3.0", {"torch/three.py": ""})
        write(os.path.join(self.top, "wheels", filename), data)
        argv = ["uv", "pip", "install", "--quiet", "--no-index", "--python", os.path.join(copy, "bin", "python")]
        subprocess.run(argv + [os.path.join(self.top, "wheels", filename)], check=True, capture_output=True)
        site = made["site"].replace(made["path"], copy)
        self.assertEqual(
            sorted({name.split("/")[0] for name in self.listed(site) if "torch" in name}),
            ["torch", "torch-3.0.dist-info"],
        )
        self.assertEqual([name for name in self.listed(site) if name.startswith("torch/")], ["torch/three.py"])
        self.assertFalse(os.path.exists(os.path.join(copy, "bin", "torchrun")))

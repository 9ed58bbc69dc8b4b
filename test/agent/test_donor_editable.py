"""Donors: editable installs, which are taken from their source trees."""

import json
import os

from agent.ops import find
from agent.request import Request
from test.agent.donor_place import DonorPlace
from test.agent.place import identity, read, write


class Editables(DonorPlace):
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

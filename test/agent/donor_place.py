"""A place for the tests of donors: a second venv that others take from."""

import os

from agent.donor import listing
from agent.fault import Fault
from agent.ops import find
from agent.request import Request
from agent.staging import overlays
from test.agent.place import PlaceTest, install, new_venv, write


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

"""Donors: what becomes of their distributions where they are laid."""

import os
import shutil
import subprocess
import unittest

from test.agent.donor_place import DonorPlace
from test.agent.place import install, python, read, write
from test.agent.wheels import wheel


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

"""What a preview can say of a venv that is to be adopted, before it is copied."""

import os
import shutil

from agent.ops import find
from test.agent.place import PlaceTest, identity, install, write

NCCL = "nvidia/nccl/lib/libnccl.so.2"


class Foresee(PlaceTest):
    def foresee(self, venv=None):
        """The answer, for which nothing was written."""
        venv = venv or self.venv
        before = identity(venv) if os.path.exists(venv) else None
        answer = find("venv.foresee")(self.request(adopt=venv))
        self.assertEqual(identity(venv) if before is not None else None, before)
        self.assertFalse(os.path.exists(self.layout.root))
        return answer

    def test_a_venv_in_order_and_one_that_is_not_there_have_nothing_to_tell(self):
        nothing = {"shared": [], "leftovers": [], "scripts": []}
        self.assertEqual(self.foresee(), nothing)
        self.assertEqual(self.foresee(os.path.join(self.top, "nowhere")), nothing)

    def test_files_of_two_owners_and_left_overs_are_told_with_whose_the_bytes_are(self):
        for name in ("nvidia-nccl-cu12", "nvidia-nccl-cu13"):
            install(self.site, name, "2.28", {NCCL: name.encode()})
        write(os.path.join(self.site, "~orch", "x.py"), "")
        answer = self.foresee()
        owners = ["nvidia-nccl-cu12", "nvidia-nccl-cu13"]
        self.assertEqual(answer["shared"], [{"path": NCCL, "owners": owners, "bytes": "nvidia-nccl-cu13 2.28"}])
        self.assertEqual(answer["leftovers"], ["~orch was left by an interrupted install"])

    def test_scripts_of_a_copied_venv_that_run_its_origin_are_told_also_when_that_is_gone(self):
        bin = os.path.join(self.venv, "bin")
        write(os.path.join(bin, "tool"), "#!%s/bin/python\nprint(1)\n" % self.venv)
        write(os.path.join(bin, "system"), "#!/usr/bin/python3\n")
        write(os.path.join(bin, "shell"), "#!/bin/sh\n")
        self.assertEqual(self.foresee()["scripts"], [])
        copied = os.path.join(self.top, "copied")
        shutil.copytree(self.venv, copied, symlinks=True)
        stale = [{"path": "bin/tool", "python": self.venv + "/bin/python"}]
        self.assertEqual(self.foresee(copied)["scripts"], stale)
        os.rename(self.venv, self.venv + ".away")
        self.assertEqual(self.foresee(copied)["scripts"], stale)

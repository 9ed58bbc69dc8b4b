"""Where a service's patched files are, and what has become of them under the process: of a release whose sources lie beside site-packages."""

import os
import shutil
import unittest

from agent.files import sha256_file, write_json
from test.agent.service_case import Case
from test.agent.service_host import SITE

MODULE = "sglang/srt/answer.py"
DATA = "sglang/srt/answer.json"


class APatchedSourceTree(Case):
    """Release r3 as an adopted editable install becomes it: a path line, the sources in src/0, two files of them patched."""

    def setUp(self):
        super().setUp()
        self.gates.stop()
        site = self.host.release("r3", patch='TEXT = "Rome."\nMODEL_INFO = {}\n')
        self.release = os.path.realpath(self.host.layout.release("v", "r3"))
        os.makedirs(self.release + "/src/0")
        shutil.move(os.path.join(site, "sglang"), self.release + "/src/0/sglang")
        self.host.write(os.path.join(site, "__editable__.sglang-0.5.pth"), "../../../src/0\n")
        self.host.write(self.at(DATA), "{}")
        patched = {path: {"sha256": sha256_file(self.at(path)), "path": "src/0/" + path} for path in (MODULE, DATA)}
        facts = {
            "recipe": {},
            "site": SITE,
            "packages": {},
            "patched": patched,
            "laid": {},
            "base": "base-x",
            "made": 1.0,
        }
        write_json(self.release + ".json", facts)
        self.patched = [
            {"module": "sglang.srt.answer", "path": MODULE, "sha256": patched[MODULE]["sha256"]},
            {"module": None, "path": DATA, "sha256": patched[DATA]["sha256"]},
        ]

    def at(self, path):
        return os.path.join(self.release, "src/0", path)

    def activate(self):
        return self.host.activate("r3", gates={"patched": self.patched})

    def shown(self):
        return {one["path"]: one for one in self.host.look()["process"]["patched"]}

    def test_is_proven_by_its_files_and_not_looked_for_in_site_packages(self):
        self.activate()
        self.assertEqual(self.host.text(), "Rome.")
        wanted = {
            item["path"]: {
                "path": item["path"],
                "file": self.at(item["path"]),
                "sha256": item["sha256"],
                "declared": item["sha256"],
                "older": False,
            }
            for item in self.patched
        }
        self.assertEqual(self.shown(), wanted)

    def test_says_of_a_file_that_was_edited_or_removed_what_it_is_now_and_that_the_process_is_older(self):
        self.activate()
        self.host.write(self.at(MODULE), "TEXT = 1\n")
        os.unlink(self.at(DATA))
        shown = self.shown()
        self.assertEqual(
            [(shown[path]["sha256"], shown[path]["older"]) for path in (MODULE, DATA)],
            [(sha256_file(self.at(MODULE)), True), (None, True)],
        )
        self.assertEqual(self.host.look()["process"]["newerFiles"], [DATA, MODULE])

    def test_is_refused_by_the_gate_when_a_file_is_not_the_patched_one(self):
        self.host.write(self.at(DATA), "[]")
        fault = self.host.fails("r3", gates={"patched": self.patched})
        self.assertIn("gate origin: the content of %s is not the patched one" % self.at(DATA), fault.message)


if __name__ == "__main__":
    unittest.main()

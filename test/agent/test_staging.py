import hashlib
import json
import os
import unittest

from agent import store
from agent.claims import claims
from agent.files import read_json, write_json
from agent.staging import env, patches
from test.agent.support import RootTest, claim_of

TEXT = b"x = 2\n"
SHA256 = hashlib.sha256(TEXT).hexdigest()
PATCHES = [
    {"target": {"module": "sglang.srt.server_args"}, "kind": "file", "sha256": SHA256, "pre": None},
    {"target": {"path": "sglang/version.py"}, "kind": "diff", "sha256": SHA256, "pre": "00" * 32},
]


class PatchTest(RootTest):
    def stage(self, **more):
        return patches.stage(self.request(claim=claim_of("patch", "v"), venv="v", digest="d1", patches=PATCHES, **more))

    def test_staged_patches_show_what_kind_and_which_content_each_file_gets(self):
        store.put(self.request(body=TEXT, contents=[{"sha256": SHA256, "size": len(TEXT)}]))
        wanted = {
            "owner": "o1",
            "digest": "d1",
            "files": {"module:sglang.srt.server_args": "file " + SHA256, "sglang/version.py": "diff " + SHA256},
        }
        self.assertEqual(self.stage(), wanted)
        self.assertEqual(patches.staged(self.layout, "v"), wanted)

    def test_a_content_that_never_came_is_refused_and_nothing_is_noted(self):
        self.fault("missing-content", self.stage)
        self.assertIsNone(patches.staged(self.layout, "v"))

    def test_a_content_that_is_gone_or_altered_shows_as_missing(self):
        store.put(self.request(body=TEXT, contents=[{"sha256": SHA256, "size": len(TEXT)}]))
        self.stage()
        os.unlink(self.layout.content(SHA256))
        self.assertEqual(set(patches.staged(self.layout, "v")["files"].values()), {"missing"})

    def test_only_the_owner_removes_and_what_is_gone_already_is_no_error(self):
        store.put(self.request(body=TEXT, contents=[{"sha256": SHA256, "size": len(TEXT)}]))
        self.stage()
        self.assertEqual(patches.remove(self.request(claim=claim_of("patch", "v", owner="o2"))), {})
        self.assertIsNotNone(patches.staged(self.layout, "v"))
        for _ in range(2):
            self.assertEqual(patches.remove(self.request(claim=claim_of("patch", "v"))), {})
            self.assertIsNone(patches.staged(self.layout, "v"))


class EnvTest(RootTest):
    def stage(self, number, variables):
        return env.stage(self.request(claim=claim_of("env", "s"), service="s", id=number, variables=variables))

    def test_values_come_back_byte_for_byte_from_a_file_that_only_its_owner_reads(self):
        variables = {"A": "k\\1$HOME\"q'#;", "B": " blank ", "C": "=a=b", "D": "two\nlines\t", "E": "\u00fc", "F": "", "G": "x" * 20000, "H": "%h"}
        self.assertEqual(self.stage("e1", variables), {"owner": "o1", "id": "e1"})
        self.assertEqual(env.staged(self.layout, "s"), {"owner": "o1", "id": "e1", "variables": variables})
        self.assertEqual(os.stat(self.layout.service("s", "env-e1.json")).st_mode & 0o777, 0o600)

    def test_what_no_process_can_be_given_is_refused_all_at_once(self):
        fault = self.fault("bad-variable", self.stage, "e1", {"1A": "x", "A=B": "x", "OK": "x", "N": "a\0b", "": "x"})
        self.assertEqual(
            fault.message,
            "the environment of s cannot be given to a process: '', '1A', 'A=B', N (its value holds a NUL byte)",
        )
        self.assertFalse(os.path.exists(self.root))

    def test_old_secrets_go_but_for_those_of_the_way_back_and_of_what_runs(self):
        for number in ("e1", "e2"):
            self.stage(number, {"KEY": number})
        write_json(self.layout.service("s", "current.json"), {"env": "e1"})
        self.stage("e3", {})
        self.assertEqual(self.files(self.layout.service("s")), ["current.json", "env-e1.json", "env-e2.json", "env-e3.json", "env.json"])
        self.stage("e4", {})
        self.assertEqual(self.files(self.layout.service("s")), ["current.json", "env-e1.json", "env-e3.json", "env-e4.json", "env.json"])
        env.remove(self.request(claim=claim_of("env", "s")))
        self.assertEqual(self.files(self.layout.service("s")), ["current.json", "env-e1.json"])

    def test_removing_the_only_thing_leaves_nothing(self):
        self.stage("e1", {})
        env.remove(self.request(claim=claim_of("env", "s")))
        self.assertEqual(os.listdir(self.parent), [])

    def test_another_stack_cannot_stage_over_it(self):
        self.stage("e1", {"A": "1"})
        request = self.request(claim=claim_of("env", "s", owner="o2", urn="urn:2"), service="s", id="e2", variables={})
        self.fault("claimed", env.stage, request)
        self.assertEqual(env.staged(self.layout, "s")["variables"], {"A": "1"})
        self.assertEqual(claims(self.layout)["env/s"]["owner"], "o1")

    def test_the_files_carry_a_format_number(self):
        self.stage("e1", {})
        for name in ("env.json", "env-e1.json"):
            with open(self.layout.service("s", name)) as stream:
                self.assertEqual(json.load(stream)["format"], 1)
        self.assertEqual(read_json(self.layout.service("s", "env.json")), {"owner": "o1", "id": "e1"})


if __name__ == "__main__":
    unittest.main()

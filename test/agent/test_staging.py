import hashlib
import json
import os
import shutil
import unittest

from agent import store
from agent.claims import claims
from agent.files import read_json, write_json
from agent.staging import env, overlays, patches, staged
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
            "pre": {"sglang/version.py": "00" * 32},
        }
        self.assertEqual(self.stage(), wanted)
        self.assertEqual(staged.patches(self.layout, "v"), wanted)

    def test_a_content_that_never_came_is_refused_and_nothing_is_noted(self):
        self.fault("missing-content", self.stage)
        self.assertIsNone(staged.patches(self.layout, "v"))

    def test_a_content_that_is_gone_or_altered_shows_as_missing(self):
        store.put(self.request(body=TEXT, contents=[{"sha256": SHA256, "size": len(TEXT)}]))
        self.stage()
        os.unlink(self.layout.content(SHA256))
        self.assertEqual(set(staged.patches(self.layout, "v")["files"].values()), {"missing"})

    def test_only_the_owner_removes_and_what_is_gone_already_is_no_error(self):
        store.put(self.request(body=TEXT, contents=[{"sha256": SHA256, "size": len(TEXT)}]))
        self.stage()
        self.assertEqual(patches.remove(self.request(claim=claim_of("patch", "v", owner="o2"))), {})
        self.assertIsNotNone(staged.patches(self.layout, "v"))
        for _ in range(2):
            self.assertEqual(patches.remove(self.request(claim=claim_of("patch", "v"))), {})
            self.assertIsNone(staged.patches(self.layout, "v"))


def overlay(version, text=b"x = 1\n"):
    """A directory overlay of package `demo` with one module, and its content."""
    file = {"path": "demo/__init__.py", "sha256": hashlib.sha256(text).hexdigest(), "mode": 0o644}
    digest = hashlib.sha256(version.encode() + text).hexdigest()
    return {
        "packages": ["demo"],
        "digest": digest,
        "source": {"kind": "directory", "files": [file], "version": version},
    }


class OverlayTest(RootTest):
    def setUp(self):
        super().setUp()
        for text in (b"x = 1\n", b"x = 2\n"):
            store.put(
                self.request(body=text, contents=[{"sha256": hashlib.sha256(text).hexdigest(), "size": len(text)}])
            )

    def stage(self, *wanted, venv="v"):
        return overlays.stage(
            self.request(claim=claim_of("overlay", venv), venv=venv, digest="d1", overlays=list(wanted))
        )

    def trees(self):
        return sorted(os.listdir(self.layout.at("trees")))

    def test_a_staged_overlay_shows_its_version_and_digest(self):
        one = overlay("1.0")
        wanted = {
            "owner": "o1",
            "digest": "d1",
            "packages": {"demo": "1.0 " + one["digest"][:12]},
            "origins": [{"packages": ["demo"], "source": {"kind": "directory"}}],
        }
        self.assertEqual(self.stage(one), wanted)
        self.assertEqual(staged.overlays(self.layout, "v"), wanted)

    def test_the_later_of_two_overlays_of_one_package_wins(self):
        self.assertEqual(self.stage(overlay("2.0"), overlay("1.0"))["packages"]["demo"].split()[0], "1.0")

    def test_an_altered_tree_is_said_one_that_is_gone_is_not_listed_and_the_next_staging_makes_it_anew(self):
        made = self.stage(overlay("1.0"))["packages"]["demo"]
        path = self.layout.tree(overlay("1.0")["digest"]) + "/site/demo/__init__.py"
        with open(path, "w") as stream:
            stream.write("edited = True\n")
        self.assertEqual(staged.overlays(self.layout, "v")["packages"], {"demo": "1.0 edited on the host"})
        self.assertEqual(list(self.stage(overlay("1.0"))["packages"].values()), [made])
        with open(path) as stream:
            self.assertEqual(stream.read(), "x = 1\n")
        shutil.rmtree(self.layout.tree(overlay("1.0")["digest"]))
        self.assertEqual(staged.overlays(self.layout, "v")["packages"], {})

    def test_the_tree_of_the_wish_before_stays_for_the_way_back_and_older_ones_go(self):
        one, two, three = overlay("1.0"), overlay("2.0"), overlay("3.0", b"x = 2\n")
        for wanted in (one, two):
            self.stage(wanted)
        self.assertEqual(self.trees(), sorted([one["digest"], two["digest"]]))
        self.stage(three)
        self.stage(three)
        self.assertEqual(self.trees(), sorted([two["digest"], three["digest"]]))

    def test_a_tree_that_another_venv_wants_stays_when_its_overlay_is_removed(self):
        self.stage(overlay("1.0"))
        self.stage(overlay("1.0"), venv="w")
        overlays.remove(self.request(claim=claim_of("overlay", "v")))
        self.assertIsNone(staged.overlays(self.layout, "v"))
        self.assertEqual(self.trees(), [overlay("1.0")["digest"]])
        overlays.remove(self.request(claim=claim_of("overlay", "w")))
        self.assertEqual(os.listdir(self.parent), [])

    def test_contents_that_never_came_are_named_before_anything_is_made(self):
        absent = overlay("1.0", b"never sent")
        self.fault("missing-content", self.stage, absent)
        self.assertFalse(os.path.exists(self.layout.at("trees")))

    def test_a_source_that_nobody_knows_is_refused(self):
        self.fault("bad-source", self.stage, dict(overlay("1.0"), source={"kind": "cloud"}))


class EnvTest(RootTest):
    def stage(self, number, variables):
        wish = {"service": "s", "id": number, "variables": variables, "salt": "5a17"}
        return env.stage(self.request(claim=claim_of("env", "s"), **wish))

    def test_values_come_back_byte_for_byte_from_a_file_that_only_its_owner_reads(self):
        variables = {
            "A": "k\\1$HOME\"q'#;",
            "B": " blank ",
            "C": "=a=b",
            "D": "two\nlines\t",
            "E": "\u00fc",
            "F": "",
            "G": "x" * 20000,
            "H": "%h",
        }
        self.assertEqual(self.stage("e1", variables), {"owner": "o1", "id": "e1"})
        self.assertEqual(
            staged.environment(self.layout, "s"), {"owner": "o1", "id": "e1", "variables": variables, "salt": "5a17"}
        )
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
        running = {"owner": "o1", "venv": "v", "release": "r1", "env": "e1", "spec": {}, "activated": 1}
        write_json(self.layout.service("s", "current.json"), running)
        self.stage("e3", {})
        self.assertEqual(
            self.files(self.layout.service("s")),
            ["current.json", "env-e1.json", "env-e2.json", "env-e3.json", "env.json"],
        )
        self.stage("e4", {})
        self.assertEqual(
            self.files(self.layout.service("s")),
            ["current.json", "env-e1.json", "env-e3.json", "env-e4.json", "env.json"],
        )
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
        self.assertEqual(staged.environment(self.layout, "s")["variables"], {"A": "1"})
        self.assertEqual(claims(self.layout)["env/s"]["owner"], "o1")

    def test_the_files_carry_a_format_number(self):
        self.stage("e1", {})
        for name in ("env.json", "env-e1.json"):
            with open(self.layout.service("s", name)) as stream:
                self.assertEqual(json.load(stream)["format"], 1)
        self.assertEqual(read_json(self.layout.service("s", "env.json")), {"owner": "o1", "id": "e1"})


if __name__ == "__main__":
    unittest.main()

import os
import unittest

from agent import store
from agent.files import atomic_write
from agent.look import hello, look
from agent.staging import env, patches
from test.agent.support import RootTest, claim_of

MACHINE = {"machineId", "hostKey", "bootId", "hostname", "python", "arch", "user", "uid", "systemd", "now", "libc"}
FACTS = {
    "format",
    "machine",
    "root",
    "place",
    "claims",
    "overlays",
    "patches",
    "venvs",
    "envs",
    "services",
    "adoptable",
}


def stats(top):
    """What a look must not change: every path with its kind, size and times but that of the last access."""
    found = {}
    for folder, _, names in os.walk(top):
        for path in [folder] + [os.path.join(folder, name) for name in names]:
            facts = os.lstat(path)
            found[path] = (facts.st_mode, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_nlink)
    return found


class LookTest(RootTest):
    def test_below_a_root_that_is_not_there_is_nothing_and_it_is_not_made(self):
        facts = look(self.request())
        self.assertEqual(set(facts), FACTS)
        self.assertEqual([facts[name] for name in sorted(FACTS - {"machine", "root", "place", "format"})], [{}] * 7)
        self.assertEqual((facts["format"], facts["root"], os.listdir(self.parent)), (1, self.root, []))

    def test_the_machine_is_told_field_for_field(self):
        facts = hello(self.request())
        self.assertEqual(set(facts), MACHINE)
        self.assertEqual(
            (facts["uid"], facts["hostname"], len(facts["machineId"])), (os.geteuid(), os.uname().nodename, 32)
        )
        self.assertEqual(look(self.request())["machine"]["machineId"], facts["machineId"])

    def test_what_was_staged_is_seen_and_looking_changes_not_even_a_time(self):
        store.put(
            self.request(
                contents=[{"sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "size": 0}]
            )
        )
        env.stage(self.request(claim=claim_of("env", "s"), service="s", id="e1", variables={"A": "b"}))
        wanted = [
            {
                "target": {"path": "x.py"},
                "kind": "file",
                "pre": None,
                "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            }
        ]
        patches.stage(self.request(claim=claim_of("patch", "v"), venv="v", digest="d1", patches=wanted))
        before = stats(self.parent)
        facts = look(self.request())
        self.assertEqual(stats(self.parent), before)
        self.assertEqual(facts["envs"], {"s": {"owner": "o1", "id": "e1", "variables": {"A": "b"}, "salt": None}})
        self.assertEqual(facts["patches"]["v"]["files"], {"x.py": "file " + wanted[0]["sha256"]})
        self.assertEqual(sorted(facts["claims"]), ["env/s", "patch/v"])
        self.assertEqual((facts["overlays"], facts["venvs"]), ({}, {}))

    def test_what_cannot_be_read_is_told_by_itself_and_hides_nothing_else(self):
        for service in ("s", "t"):
            env.stage(self.request(claim=claim_of("env", service), service=service, id="e1", variables={"A": service}))
        patches.stage(self.request(claim=claim_of("patch", "v"), venv="v", digest="d1", patches=[]))
        spoilt = {
            "env/s": self.layout.service("s", "env.json"),
            "service/t": self.layout.service("t", "spec.json"),
            "patch/v": self.layout.venv("v", "patches.json"),
            "venv/v": self.layout.venv("v", "venv.json"),
        }
        for path in spoilt.values():
            atomic_write(path, b"3")
        facts = look(self.request())
        self.assertEqual({key: report["where"] for key, report in facts["unreadable"].items()}, spoilt)
        self.assertEqual({report["code"] for report in facts["unreadable"].values()}, {"corrupt"})
        self.assertEqual(({name: one["variables"] for name, one in facts["envs"].items()}), {"t": {"A": "t"}})
        self.assertEqual((facts["patches"], facts["venvs"], facts["services"]), ({}, {}, {}))
        for path in spoilt.values():
            os.unlink(path)
        self.assertNotIn("unreadable", look(self.request()))

    def test_a_root_of_a_newer_version_is_refused(self):
        atomic_write(self.layout.format, b'{"format": 2}')
        self.fault("newer-format", look, self.request())


if __name__ == "__main__":
    unittest.main()

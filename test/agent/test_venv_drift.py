"""A property: whatever is edited in a release, a look shows those files and no others, and a make gives back exactly the declared bytes."""

import hashlib
import os
import random
import shutil
import stat
import subprocess
import time

from agent.venv import beside, look, stamps, sums
from test.agent.hand import EDITS, Hand
from test.agent.place import PlaceTest, install, read, write

ROUNDS = int(os.environ.get("SGLANG_TEST_ROUNDS", "12"))
SEED = int(os.environ.get("SGLANG_TEST_SEED", "4"))
PATCH = "pkg/core.py"


def content(top):
    """`path -> mode and digest, or target` of everything in a release but bytecode."""
    found = {}
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names + [one for one in folders if os.path.islink(os.path.join(folder, one))]:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                found[os.path.relpath(path, top)] = "-> " + os.readlink(path)
            elif not name.endswith(".pyc"):
                with open(path, "rb") as file:
                    digest = hashlib.sha256(file.read()).hexdigest()
                found[os.path.relpath(path, top)] = "%o %s" % (stat.S_IMODE(os.stat(path).st_mode), digest)
    return found


class AnyEdit(PlaceTest):
    def test_shows_as_it_is_and_no_more_and_is_given_back_to_the_byte(self):
        made = self.a_release()
        top, site = made["path"], os.path.relpath(made["site"], made["path"])
        declared = content(top)
        watched = sorted(path for path in sums.read(beside.watched(top)) if not path.endswith("RECORD"))
        self.assertGreater(len(watched), 6)
        choice = random.Random(SEED)
        for number in range(ROUNDS):
            hand, expected = Hand(choice, top), {}
            for path in choice.sample(watched, choice.randint(1, 5)):
                expected.update(getattr(hand, choice.choice(EDITS))(path))
            with self.subTest(seed=SEED, round=number, edits=expected):
                self.assertEqual(self.drift(made), {shown(path, site): kind for path, kind in expected.items()})
                self.make(*self.wish)
                self.assertEqual(content(top), declared)
                self.assertEqual(self.drift(made), {})

    def test_of_a_file_that_nobody_watches_shows_in_a_verify_and_is_given_back_by_one(self):
        with open(os.path.join(self.site, "plain.py"), "w") as file:
            file.write("x = 1\n")
        made = self.a_release()
        declared = content(made["path"])
        path = os.path.join(os.path.relpath(made["site"], made["path"]), "plain.py")
        Hand(random.Random(SEED), made["path"]).hidden(path)
        self.assertEqual(self.drift(made), {})
        self.assertEqual(self.drift(made, verify=True), {"plain.py": "edited"})
        self.make(*self.wish, verify=True)
        self.assertEqual(content(made["path"]), declared)
        self.assertEqual(self.drift(made, verify=True), {})

    def test_shows_in_sha256sum_as_well(self):
        made = self.a_release()
        check = ["sha256sum", "--check", "--quiet", beside.sums(made["path"])]
        self.assertEqual(subprocess.run(check, cwd=made["path"], capture_output=True).returncode, 0)
        path = os.path.join(os.path.relpath(made["site"], made["path"]), PATCH)
        Hand(random.Random(SEED), made["path"]).hidden(path)
        done = subprocess.run(check, cwd=made["path"], capture_output=True, text=True)
        self.assertEqual(done.stdout, "%s: FAILED\n" % path)

    def test_from_before_the_adoption_is_told_and_kept(self):
        install(self.site, "old", "1.0", {"old/__init__.py": "x = 1\n", "old/more.py": "y = 1\n"})
        write(os.path.join(self.site, "old/more.py"), "y = 2\n")
        made = self.a_release()
        self.assertEqual(made["foreign"], {"old": {"files": 1, "first": ["old/more.py"]}})
        self.assertEqual(read(made["site"], "old/more.py"), "y = 2\n")
        self.assertEqual(self.drift(made, verify=True), {})

    def test_a_look_writes_only_its_cache_and_that_only_once(self):
        made = self.a_release()
        path = os.path.join(made["site"], PATCH)
        os.chmod(path, 0o600)
        os.chmod(path, 0o644)
        # What is younger than a tick of the clock is not remembered yet.
        time.sleep(2 * stamps.TICK)
        before = times(self.root)
        self.assertEqual(self.drift(made), {})
        after = times(self.root)
        releases = os.path.dirname(made["path"])
        self.assertEqual(
            sorted(name for name in after if after[name] != before.get(name)), [releases, beside.stamps(made["path"])]
        )
        self.drift(made)
        self.assertEqual(times(self.root), after)

    def test_of_many_files_names_patched_ones_first_then_those_of_sglang(self):
        install(self.site, "sglang", "0.5", {"sglang/__init__.py": "", "sglang/x.py": "x = 1\n"})
        made = self.a_release()
        for number in range(250):
            write(os.path.join(made["site"], "a", "%03d.py" % number), "")
        for path in (PATCH, "sglang/x.py"):
            Hand(random.Random(SEED), made["site"]).by_rename(path)
        facts = self.facts(made)
        self.assertEqual((facts["driftCount"], len(facts["drift"])), (252, 200))
        self.assertEqual(
            facts["drift"][:3],
            [
                {"path": PATCH, "kind": "edited"},
                {"path": "sglang/x.py", "kind": "edited"},
                {"path": "a/000.py", "kind": "extra"},
            ],
        )

    def test_of_an_installer_is_one_distribution_and_a_patched_file_keeps_its_name(self):
        install(self.site, "old", "1.0", {"old/__init__.py": "x = 1\n", "old/gone.py": "", "old/data.json": "{}\n"})
        install(self.site, "less", "3.0", {"less/__init__.py": "x = 1\n"})
        made = self.a_release()
        site = made["site"]
        for name in ("old", "old-1.0.dist-info", "less", "less-3.0.dist-info", "pkg", "pkg-1.0.dist-info"):
            shutil.rmtree(os.path.join(site, name))
        install(site, "old", "2.0", {"old/__init__.py": "x = 2\n", "old/data.json": "{ }\n"})
        install(
            site, "new", "4.0", {"new/__init__.py": "", "new/notes.txt": "\n"}, scripts={"new": "#!python\nprint()\n"}
        )
        install(site, "pkg", "1.1", {"pkg/__init__.py": "", PATCH: "a = 1\n"})
        write(os.path.join(site, "old", "by_hand.py"), "")
        facts = self.facts(made)
        self.assertEqual(
            {one["path"]: one["kind"] for one in facts["drift"]}, {PATCH: "edited", "old/by_hand.py": "extra"}
        )
        told = {name: (one["was"], one["now"], one["loaded"]) for name, one in facts["exchanged"].items()}
        self.assertEqual(
            told,
            {
                "old": ("1.0", "2.0", 2),
                "new": (None, "4.0", 2),
                "less": ("3.0", None, 1),
                "pkg": ("1.0", "1.1", 2),
            },
        )
        # The new one: what it brought, and its metadata.
        brought = os.listdir(os.path.join(site, "new-4.0.dist-info"))
        self.assertEqual(facts["exchanged"]["new"]["files"], 3 + len(brought))
        self.make(*self.wish)
        self.assertEqual((self.facts(made)["drift"], self.facts(made)["exchanged"]), ([], {}))

    def test_of_metadata_that_somebody_edited_is_no_exchange(self):
        made = self.a_release()
        Hand(random.Random(SEED), made["site"]).in_place("pkg-1.0.dist-info/METADATA")
        facts = self.facts(made)
        self.assertEqual((list(self.drift(made)), facts["exchanged"]), (["pkg-1.0.dist-info/METADATA"], {}))

    def test_of_a_mode_alone_is_told_as_such(self):
        made = self.a_release()
        path = os.path.join(made["site"], PATCH)
        os.chmod(path, 0o600)
        self.assertEqual(self.facts(made)["drift"], [{"path": PATCH, "kind": "edited", "mode": "644 → 600"}])
        Hand(random.Random(SEED), made["site"]).hidden(PATCH)
        self.assertEqual(self.facts(made)["drift"], [{"path": PATCH, "kind": "edited"}])

    def a_release(self):
        files = {
            "pkg/__init__.py": "",
            PATCH: "a = 1\nb = 2\n",
            "pkg/other.py": "c = 3\n",
            "pkg/data/table.json": "{}\n",
        }
        self.wish = ([self.wheel_overlay("pkg", "1.0", files)], [self.file_patch(PATCH, "a = 1\nb = 3\n")])
        return self.make(*self.wish)

    def facts(self, made, verify=False):
        return look.venvs(self.layout, verify=verify)[0]["v"]["releases"][made["release"]]

    def drift(self, made, verify=False):
        facts = self.facts(made, verify)
        self.assertEqual(facts["driftCount"], len(facts["drift"]))
        return {one["path"]: one["kind"] for one in facts["drift"]}


def shown(path, site):
    return path[len(site) + 1 :] if path.startswith(site + "/") else path


def times(top):
    """`path -> mtime` of all below."""
    paths = [os.path.join(folder, name) for folder, folders, names in os.walk(top) for name in folders + names]
    return {path: os.lstat(path).st_mtime_ns for path in paths}

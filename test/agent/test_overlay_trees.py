"""Overlays as they are staged: wheels, directories, indexes."""

import os
import shutil
import unittest

from agent.fault import Fault
from agent.overlay import trees
from test.agent.place import PlaceTest, read, sha256, write
from test.agent.wheels import wheel


class Trees(PlaceTest):
    def tree(self, overlay, **args):
        facts = trees.make_tree(self.request(**args), overlay)
        return facts, self.layout.tree(overlay["digest"])

    def fault(self, code, overlay, **args):
        with self.assertRaises(Fault) as caught:
            self.tree(overlay, **args)
        self.assertEqual(caught.exception.code, code)
        self.assertEqual(
            [name for name in os.listdir(self.layout.at("trees"))] if os.path.isdir(self.layout.at("trees")) else [], []
        )
        return caught.exception

    def test_a_wheel_becomes_a_tree_with_scripts_data_and_a_record_of_its_own(self):
        facts, path = self.tree(
            self.wheel_overlay(
                "my-pkg",
                "1.2",
                {"my_pkg/__init__.py": "", "my_pkg/data.txt": "d"},
                entry_points={"my-tool": "my_pkg:main [x]"},
                data={"share/man/my.1": "man"},
                scripts={"my-old": "#!python\nprint(1)\n"},
            )
        )
        self.assertEqual(
            facts, {"packages": {"my-pkg": "1.2"}, "names": ["my-pkg"], "tags": ["py3-none-any"], "source": "wheel"}
        )
        self.assertEqual(sorted(os.listdir(os.path.join(path, "bin"))), ["my-old", "my-tool"])
        self.assertEqual(read(path, "data/share/man/my.1"), "man")
        self.assertEqual(
            read(path, "bin/my-old"),
            "#!/bin/sh\n'''exec' \"$(dirname -- \"$(realpath -- \"$0\")\")\"/'python' \"$0\" \"$@\"\n' '''\nprint(1)\n",
        )
        self.assertIn("from my_pkg import main\n", read(path, "bin/my-tool"))
        self.assertEqual(read(path, "site/my_pkg-1.2.dist-info/INSTALLER"), "pulumi-sglang\n")
        rows = [line.split(",")[0] for line in read(path, "site/my_pkg-1.2.dist-info/RECORD").splitlines()]
        self.assertEqual(
            rows,
            sorted(
                [
                    "../../../bin/my-old",
                    "../../../bin/my-tool",
                    "../../../share/man/my.1",
                    "my_pkg/__init__.py",
                    "my_pkg/data.txt",
                ]
                + [
                    "my_pkg-1.2.dist-info/" + name
                    for name in ("INSTALLER", "METADATA", "RECORD", "WHEEL", "entry_points.txt")
                ]
            ),
        )

    def test_a_second_call_does_nothing_and_an_altered_tree_is_made_again(self):
        overlay = self.wheel_overlay("pkg", "1", {"pkg.py": "x = 1\n"})
        path = self.tree(overlay)[1]
        inode = os.stat(path + "/site/pkg.py").st_ino
        self.tree(overlay)
        self.assertEqual(os.stat(path + "/site/pkg.py").st_ino, inode)
        write(path + "/site/pkg.py", "x = 22\n")
        self.assertIsNone(trees.facts(self.layout, overlay["digest"]))
        self.tree(overlay)
        self.assertEqual(read(path, "site/pkg.py"), "x = 1\n")

    def test_each_file_of_a_wheel_that_is_not_what_its_record_says_is_named(self):
        overlay = self.wheel_overlay("pkg", "1", {"a.py": "a\n", "b.py": "b\n"}, wrong_record=("a.py", "b.py"))
        fault = self.fault("bad-wheel", overlay)
        self.assertEqual(
            fault.more["detail"], "a.py: its bytes have another sha256\nb.py: its bytes have another sha256"
        )

    def test_a_wheel_that_leads_out_of_itself_is_refused(self):
        fault = self.fault("bad-wheel", self.wheel_overlay("pkg", "1", {"../evil.py": ""}))
        self.assertEqual(
            fault.message,
            "the wheel pkg-1-py3-none-any.whl is not usable: it holds the path ../evil.py, which leads out of it",
        )

    def test_what_is_no_zip_archive_is_refused(self):
        fault = self.fault(
            "bad-wheel",
            {
                "packages": ["p"],
                "digest": sha256("p"),
                "source": {"kind": "wheel", "sha256": self.store(b"no"), "filename": "p.whl"},
            },
        )
        self.assertIn("it is no zip archive", fault.message)

    def damaged(self, change):
        filename, data = wheel("pkg", "1", {"pkg/a.py": "x = 1\n" * 500})
        data = change(bytearray(data))
        return self.fault(
            "bad-wheel",
            {
                "packages": ["pkg"],
                "digest": sha256(bytes(data)),
                "source": {"kind": "wheel", "sha256": self.store(bytes(data)), "filename": filename},
            },
        )

    def test_a_wheel_with_a_garbled_stream_is_refused(self):
        def garble(data):
            data[45:60] = b"\xff" * 15
            return data

        self.assertIn("is not usable: it is damaged, or made in an odd way: ", self.damaged(garble).message)

    def test_a_wheel_that_was_cut_is_refused(self):
        self.assertIn("it is no zip archive", self.damaged(lambda data: data[: len(data) // 2]).message)

    def test_an_encrypted_wheel_is_refused(self):
        def encrypt(data):
            for at in range(len(data) - 4):
                if data[at : at + 4] == b"PK\x01\x02":
                    data[at + 8] |= 1
            return data

        self.assertIn("is encrypted", self.damaged(encrypt).message)

    def test_a_wheel_with_a_tag_that_is_none_is_refused(self):
        self.assertIn(
            "made in an odd way", self.fault("bad-wheel", self.wheel_overlay("pkg", "1", {}, tag="x")).message
        )

    def test_a_wheel_with_a_file_where_it_has_a_folder_is_refused(self):
        fault = self.fault("bad-wheel", self.wheel_overlay("pkg", "1", {"a": "", "a/b.py": ""}))
        self.assertIn("it holds a path that cannot be made", fault.message)

    def test_an_entry_point_whose_script_would_lie_elsewhere_is_refused(self):
        for name in ("../../evil", "/abs/evil", ".."):
            fault = self.fault("bad-wheel", self.wheel_overlay("pkg", "1", {}, entry_points={name: "pkg:main"}))
            self.assertIn("the entry point %r = 'pkg:main' makes no script" % name, fault.message)
        self.assertNotIn("evil", os.listdir(self.root))

    def test_an_entry_point_that_names_no_function_is_refused(self):
        self.fault("bad-wheel", self.wheel_overlay("pkg", "1", {}, entry_points={"tool": "pkg"}))

    def test_a_wheel_of_another_name_than_declared_is_refused(self):
        overlay = dict(
            self.wheel_overlay("sglang-kernel", "1", {"sgl_kernel/__init__.py": ""}), packages=["sgl-kernel"]
        )
        fault = self.fault("wrong-package", overlay)
        self.assertEqual((fault.more["found"], fault.more["expected"]), ("sglang-kernel 1", "sgl-kernel"))

    def test_a_directory_without_metadata_gets_some(self):
        facts, path = self.tree(self.directory_overlay(["sgl-kernel"], {"sgl_kernel/__init__.py": "x = 1\n"}))
        version = facts["packages"]["sgl-kernel"]
        self.assertRegex(version, r"^0\+[0-9a-f]{8}$")
        self.assertIn(
            "Name: sgl-kernel\nVersion: %s\n" % version, read(path, "site/sgl_kernel-%s.dist-info/METADATA" % version)
        )
        self.assertIn("sgl_kernel/__init__.py,sha256=", read(path, "site/sgl_kernel-%s.dist-info/RECORD" % version))

    def test_a_directory_of_two_packages_gets_metadata_for_both(self):
        facts, path = self.tree(
            self.directory_overlay(["one", "two"], {"one/__init__.py": "", "two/__init__.py": "", "x.py": ""}, "3")
        )
        self.assertEqual(facts["packages"], {"one": "3", "two": "3"})
        self.assertNotIn("two/", read(path, "site/one-3.dist-info/RECORD"))
        self.assertIn("x.py,", read(path, "site/one-3.dist-info/RECORD"))

    def test_a_directory_with_metadata_keeps_it(self):
        files = {
            "p/__init__.py": "",
            "p-7.dist-info/METADATA": "Name: p\nVersion: 7\n",
            "p-7.dist-info/RECORD": "p/__init__.py,,\n",
        }
        self.assertEqual(self.tree(self.directory_overlay(["p"], files))[0]["packages"], {"p": "7"})

    def test_contents_that_are_not_in_the_store_are_said(self):
        overlay = self.directory_overlay(["p"], {"p.py": "x\n"})
        os.unlink(self.layout.content(sha256("x\n")))
        self.fault("missing-content", overlay)

    def test_an_index_without_a_base_is_refused(self):
        overlay = {"packages": ["p"], "digest": sha256("i"), "source": {"kind": "index", "requirement": "p==1"}}
        self.fault("no-base", overlay)

    @unittest.skipUnless(shutil.which("uv"), "needs uv")
    def test_an_index_overlay_is_what_uv_installs_without_dependencies(self):
        folder = self.wheels()
        facts, path = self.tree(self.index_overlay(folder), base={"adopt": self.venv})
        self.assertEqual(facts["packages"], {"p": "1"})
        self.assertEqual(facts["tags"], ["py3-none-any"])
        self.assertEqual(sorted(os.listdir(path + "/site")), ["p-1.dist-info", "p.py"])
        self.assertEqual(sorted(os.listdir(path + "/bin")), ["p-tool"])
        self.assertTrue(read(path, "bin/p-tool").startswith("#!/bin/sh\n'''exec' "))
        self.assertEqual(os.stat(path + "/site/p.py").st_nlink, 1)

    @unittest.skipUnless(shutil.which("uv"), "needs uv")
    def test_what_uv_cannot_find_is_said_with_its_last_lines(self):
        fault = self.fault(
            "build-failed",
            dict(self.index_overlay(self.wheels(), "absent==9"), packages=["absent"]),
            base={"adopt": self.venv},
        )
        self.assertIn("absent", fault.more["detail"])
        self.assertIn("installing failed:", fault.message)

    def wheels(self):
        folder = os.path.join(self.top, "wheels")
        filename, data = wheel(
            "p", "1", {"p.py": "def main():\n    print('p')\n"}, requires=["absent"], entry_points={"p-tool": "p:main"}
        )
        write(os.path.join(folder, filename), data)
        return folder

    def index_overlay(self, folder, requirement="p==1"):
        return {
            "packages": ["p"],
            "digest": sha256(requirement),
            "source": {"kind": "index", "requirement": requirement, "findLinks": [folder]},
        }

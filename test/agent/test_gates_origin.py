import os
import sys
import unittest

from test.agent.candidate import Candidate

# As setuptools writes it for an editable install: a finder that stands after the path finder.
FINDER = """
    import importlib.util
    import sys

    class Finder:
        @classmethod
        def find_spec(cls, name, path=None, target=None):
            if name == "tinyserve":
                return importlib.util.spec_from_file_location(name, {source!r} + "/tinyserve/__init__.py")

    def install():
        sys.meta_path.append(Finder)
"""


class Origin(unittest.TestCase):
    def setUp(self):
        self.candidate = Candidate()
        self.addCleanup(self.candidate.remove)

    def editable(self):
        """Moves the package to a source tree of the release, found by an editable finder."""
        source = self.candidate.make_directory("release", "src", "python")
        os.rename(os.path.join(self.candidate.site, "tinyserve"), os.path.join(source, "tinyserve"))
        self.candidate.write("__editable___tinyserve_finder.py", FINDER.format(source=source))
        self.candidate.write(
            "__editable__.tinyserve.pth",
            "import __editable___tinyserve_finder; __editable___tinyserve_finder.install()\n",
        )
        return source

    def with_system_site(self):
        """Lets the release see the user's own packages, as a venv with the system's does."""
        home = os.path.dirname(os.path.realpath(self.candidate.python))
        text = "home = %s\ninclude-system-site-packages = true\n" % home
        self.candidate.write("pyvenv.cfg", text, below=self.candidate.release)

    def user_site(self):
        version = os.path.basename(os.path.dirname(self.candidate.site))
        return os.path.join(self.candidate.top, ".local", "lib", version, "site-packages")

    def origin(self, **wish):
        gate = next(gate for gate in self.candidate.check(**wish)["gates"] if gate["gate"] == "origin")
        return [warning.replace(self.candidate.top, "TOP") for warning in gate["warnings"]]

    def test_a_patched_module_that_is_the_wanted_file_passes(self):
        self.assertEqual(self.origin(patched=[self.candidate.patched("tinyserve.spec_info", "x = 2\n")]), [])

    def test_a_patched_module_of_other_content_is_named_with_both_hashes(self):
        patch = self.candidate.patched("tinyserve.spec_info", "x = 2\n")
        self.candidate.write("tinyserve/spec_info.py", "x = 3\n")
        self.assertEqual(
            self.candidate.problems(patched=[patch]),
            [
                "origin: tinyserve.spec_info is imported from %s, whose content is not the patched one (sha256 %s, expected %s)"
                % (
                    "TOP/release/"
                    + os.path.relpath(self.candidate.site, self.candidate.release)
                    + "/tinyserve/spec_info.py",
                    "6dba43e01d22",
                    patch["sha256"][:12],
                ),
            ],
        )

    def test_a_patched_file_that_is_no_module_is_judged_by_its_hash_alone(self):
        self.candidate.write("tinyserve/config.json", "{}")
        told = self.candidate.problems(patched=[{"module": None, "path": "tinyserve/config.json", "sha256": "0" * 64}])
        self.assertEqual(
            told,
            [
                "origin: the content of TOP/release/%s/tinyserve/config.json is not the patched one (sha256 44136fa355b3, expected 000000000000)"
                % os.path.relpath(self.candidate.site, self.candidate.release),
            ],
        )

    def test_a_package_that_stands_before_the_patched_module_is_named(self):
        patch = self.candidate.patched("tinyserve.spec_info", "x = 2\n")
        self.candidate.write("tinyserve/spec_info/__init__.py", "x = 1\n")
        told = self.candidate.problems(patched=[patch])
        self.assertIn("the patched file TOP/release/", told[0])
        self.assertIn("is there, but another one is found first", told[0])

    def test_old_bytecode_of_the_same_second_and_size_is_found(self):
        patch = self.candidate.patched("tinyserve.spec_info", "x = 1\n")
        self.candidate.check(patched=[patch])
        file = os.path.join(self.candidate.site, "tinyserve/spec_info.py")
        before = os.stat(file)
        patch = self.candidate.patched("tinyserve.spec_info", "x = 2\n")
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        told = self.candidate.problems(patched=[patch])
        self.assertIn("origin: tinyserve.spec_info runs old bytecode: TOP/release/", told[0])

    def test_an_editable_source_tree_of_the_release_passes(self):
        source = self.editable()
        self.assertEqual(
            self.candidate.check()["modules"], {"tinyserve.launch_server": source + "/tinyserve/launch_server.py"}
        )

    def test_a_directory_of_the_same_name_in_the_working_directory_is_named_with_what_it_hides(self):
        self.editable()
        self.candidate.make_directory("work", "tinyserve")
        self.assertEqual(
            self.candidate.problems(patched=[]),
            [
                "origin: tinyserve is only a namespace package: the directory TOP/work/tinyserve without an __init__.py, in the working directory TOP/work; it hides TOP/release/src/python/tinyserve/__init__.py",
            ],
        )

    def test_a_checkout_in_the_working_directory_is_named_with_what_it_hides(self):
        for name in ("__init__.py", "launch_server.py"):
            self.candidate.write("tinyserve/" + name, "'__main__'\n", below=self.candidate.cwd)
        self.assertEqual(
            self.candidate.problems(),
            [
                "origin: tinyserve is imported from the working directory TOP/work: TOP/work/tinyserve/__init__.py; it hides TOP/release/%s/tinyserve/__init__.py"
                % os.path.relpath(self.candidate.site, self.candidate.release),
            ],
        )

    def test_a_patched_module_from_pythonpath_is_named(self):
        patch = self.candidate.patched("tinyserve.server_args")
        other = self.candidate.make_directory("other")
        for name in ("__init__.py", "launch_server.py", "server_args.py"):
            self.candidate.write("tinyserve/" + name, "'__main__'\n", below=other)
        told = self.candidate.problems(patched=[patch], env={"PYTHONPATH": other})
        self.assertEqual(len(told), 1)
        self.assertIn(
            "origin: tinyserve.server_args is imported from TOP/other/tinyserve/server_args.py, outside the release; tinyserve is imported from PYTHONPATH (TOP/other)",
            told[0],
        )

    def test_a_declared_import_from_the_declared_pythonpath_is_only_told(self):
        other = self.candidate.make_directory("other")
        self.candidate.write("sgl_kernel/__init__.py", "", below=other)
        self.assertEqual(
            self.origin(imports=["sgl_kernel"], env={"PYTHONPATH": other}),
            ["sgl_kernel is imported from PYTHONPATH (TOP/other): TOP/other/sgl_kernel/__init__.py"],
        )

    def test_a_module_of_the_user_site_is_named_with_the_variable_that_turns_it_off(self):
        self.with_system_site()
        self.candidate.write("huggingface_hub/__init__.py", "", below=self.user_site())
        self.candidate.write("huggingface_hub/__init__.py", "")
        self.candidate.write("tinyserve/launch.py", "import huggingface_hub\n")
        # The venv's site stands before the user's, so only what the release lacks comes from there.
        os.remove(os.path.join(self.candidate.site, "huggingface_hub/__init__.py"))
        self.assertEqual(
            self.candidate.problems(),
            [
                "origin: huggingface_hub is imported from the user site TOP/.local/lib/%s/site-packages (set PYTHONNOUSERSITE=1): TOP/.local/lib/%s/site-packages/huggingface_hub/__init__.py"
                % ((os.path.basename(os.path.dirname(self.candidate.site)),) * 2),
            ],
        )

    def test_a_copy_in_the_user_site_hides_a_finder_and_is_named_with_what_it_hides(self):
        self.editable()
        self.with_system_site()
        user = self.user_site()
        for name in ("__init__.py", "launch_server.py"):
            self.candidate.write("tinyserve/" + name, "'__main__'\n", below=user)
        version = os.path.basename(os.path.dirname(self.candidate.site))
        self.assertEqual(
            self.candidate.problems(),
            [
                f"origin: tinyserve is imported from the user site TOP/.local/lib/{version}/site-packages (set PYTHONNOUSERSITE=1): TOP/.local/lib/{version}/site-packages/tinyserve/__init__.py; it hides TOP/release/src/python/tinyserve/__init__.py"
            ],
        )

    def test_an_empty_directory_in_the_user_site_hides_a_finder_and_is_named_with_what_it_hides(self):
        self.editable()
        self.with_system_site()
        self.candidate.make_directory(os.path.relpath(self.user_site(), self.candidate.top), "tinyserve")
        version = os.path.basename(os.path.dirname(self.candidate.site))
        self.assertEqual(
            self.candidate.problems(),
            [
                f"origin: tinyserve is only a namespace package: the directory TOP/.local/lib/{version}/site-packages/tinyserve without an __init__.py, in the user site TOP/.local/lib/{version}/site-packages (set PYTHONNOUSERSITE=1); it hides TOP/release/src/python/tinyserve/__init__.py"
            ],
        )

    def test_a_second_copy_of_the_same_content_is_not_the_patched_file(self):
        patch = self.candidate.patched("tinyserve.spec_info", "x = 2\n")
        file = self.candidate.write("tinyserve/spec_info.py", "x = 2\n", below=self.candidate.release + "/src/0")
        site = os.path.relpath(self.candidate.site, self.candidate.top)
        self.assertEqual(
            self.candidate.problems(patched=[dict(patch, file=file)]),
            [
                "origin: tinyserve.spec_info is imported from TOP/%s/tinyserve/spec_info.py, and not from the patched file TOP/release/src/0/tinyserve/spec_info.py"
                % site
            ],
        )

    def test_a_file_that_hides_a_standard_module_is_named_before_the_service_meets_it(self):
        self.candidate.write("queue.py", "", below=self.candidate.cwd)
        self.candidate.write("notes.py", "", below=self.candidate.cwd)
        self.assertEqual(
            self.candidate.problems(),
            ["origin: TOP/work/queue.py in the working directory hides the standard module queue"],
        )

    @unittest.skipIf(sys.version_info < (3, 11), "PYTHONSAFEPATH needs Python 3.11")
    def test_a_safe_path_keeps_the_working_directory_out(self):
        self.candidate.write("queue.py", "", below=self.candidate.cwd)
        self.assertEqual(self.origin(env={"PYTHONSAFEPATH": "1"}), [])

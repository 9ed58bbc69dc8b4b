import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from agent.gates.static import cache, system
from agent.gates.static.demangle import demangle
from agent.gates.static.elf import Elf, NotElf
from agent.gates.static.loader import Process
from agent.gates.static.system import System
from test.agent.libraries import GCC, NO_GCC, library, maps, named


@unittest.skipUnless(GCC, NO_GCC)
class Loader(unittest.TestCase):
    """Each answer is compared with the loader's own: a process that opens the library, and its maps."""

    def setUp(self):
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="static-loader-"))
        self.addCleanup(shutil.rmtree, self.top)

    def at(self, *parts):
        return os.path.join(self.top, *parts)

    def process(self, **env):
        process = Process(System(Elf(os.path.realpath(sys.executable))), env)
        process.start(sys.executable)
        return process

    def agrees(self, path, *names, **env):
        """Where these names lie in our process and in a real one: the same; as paths below the test's directory."""
        opened = self.process(**env).dlopen(path)
        self.assertEqual(opened.missing + opened.old, [])
        ours = {os.path.basename(os.path.realpath(one.path)): os.path.realpath(one.path) for one in opened.closure}
        real = maps(path, env)
        self.assertEqual({name: found for name, found in ours.items() if real.get(name) != found}, {})
        return [os.path.relpath(ours[name], self.top) for name in names]

    def test_an_object_says_what_it_is(self):
        other = named(self.at("a"), "libfoo.so.2", ["foo"], versions="FOO_2 { global: foo; local: *; };")
        elf = Elf(library(self.at("b.so"), ["bar"], ["foo"], [other], runpath="$ORIGIN/a"))
        self.assertEqual((elf.bits, elf.machine, elf.soname), (64, os.uname().machine, None))
        self.assertEqual((elf.needed, elf.runpath, elf.rpath), (["libfoo.so.2", "libc.so.6"], "$ORIGIN/a", ""))
        self.assertEqual(elf.needs["libfoo.so.2"], [("FOO_2", False)])
        self.assertEqual(Elf(other).versions, {"libfoo.so.2", "FOO_2"})
        defined, undefined = elf.symbols()
        self.assertIn(b"bar", defined)
        self.assertEqual(undefined, {b"foo"})

    def test_what_is_no_elf_file_is_said_with_its_reason(self):
        for data, reason in (
            (b"", "it is empty"),
            (b"#!/bin/sh\n", "it is no ELF file"),
            (b"\x7fELF" + b"\xff" * 60, "it is no little-endian ELF file"),
        ):
            with open(self.at("x.so"), "wb") as file:
                file.write(data)
            with self.assertRaises(NotElf) as caught:
                Elf(self.at("x.so"))
            self.assertEqual(str(caught.exception), reason)

    def test_a_damaged_library_is_refused_and_not_believed(self):
        path = library(self.at("x.so"), ["foo"])
        with open(path, "rb") as file:
            data = file.read()
        for cut in range(0, len(data), 97):
            with open(path, "wb") as file:
                file.write(data[:cut] + b"\xff" * min(64, len(data) - cut) + data[cut + 64 :])
            try:
                Elf(path).symbols()
            except NotElf:
                continue

    def test_a_runpath_counts_for_the_object_and_not_for_what_it_loads(self):
        deep = named(self.at("deep"), "libdeep.so", ["deep"])
        middle = named(self.at("a"), "libmiddle.so", needed=[deep])
        path = library(self.at("x.so"), needed=[middle], runpath="$ORIGIN/a:${ORIGIN}/deep")
        opened = self.process().dlopen(path)
        self.assertEqual([(one.path, name) for one, name, _reason in opened.missing], [(middle, "libdeep.so")])
        with self.assertRaises(subprocess.CalledProcessError):
            maps(path, {})

    def test_an_rpath_counts_for_what_the_object_loads_too(self):
        deep = named(self.at("deep"), "libdeep.so", ["deep"])
        middle = named(self.at("a"), "libmiddle.so", needed=[deep])
        path = library(self.at("x.so"), needed=[middle], rpath="$ORIGIN/a:${ORIGIN}/deep")
        self.assertEqual(self.agrees(path, "libdeep.so"), ["deep/libdeep.so"])

    def test_an_object_with_a_runpath_inherits_no_rpath(self):
        deep = named(self.at("deep"), "libdeep.so", ["deep"])
        middle = named(self.at("a"), "libmiddle.so", needed=[deep], runpath="/nowhere")
        path = library(self.at("x.so"), needed=[middle], rpath="$ORIGIN/a:$ORIGIN/deep")
        self.assertEqual([name for _one, name, _reason in self.process().dlopen(path).missing], ["libdeep.so"])
        with self.assertRaises(subprocess.CalledProcessError):
            maps(path, {})

    def test_ld_library_path_comes_after_rpath_and_before_runpath(self):
        new, old = named(self.at("new"), "libfoo.so.2", ["foo"]), named(self.at("old"), "libfoo.so.2", ["foo"])
        first = library(self.at("rpath.so"), needed=[new], rpath="$ORIGIN/new")
        second = library(self.at("runpath.so"), needed=[new], runpath="$ORIGIN/new")
        env = {"LD_LIBRARY_PATH": os.path.dirname(old)}
        self.assertEqual(self.agrees(first, "libfoo.so.2", **env), ["new/libfoo.so.2"])
        self.assertEqual(self.agrees(second, "libfoo.so.2", **env), ["old/libfoo.so.2"])
        self.assertEqual(self.agrees(second, "libfoo.so.2"), ["new/libfoo.so.2"])

    def test_what_was_loaded_first_answers_for_its_soname(self):
        early, late = named(self.at("early"), "libfoo.so.2", ["foo"]), named(self.at("late"), "libfoo.so.2", ["foo"])
        path = library(self.at("x.so"), needed=[late], runpath="$ORIGIN/late")
        process = self.process()
        process.dlopen(early)
        self.assertEqual([one.path for one in process.dlopen(path).closure][:2], [path, early])

    def test_a_preload_answers_too_and_is_in_the_global_scope(self):
        mine, other = named(self.at("mine"), "libfoo.so.2", ["foo"]), named(self.at("other"), "libfoo.so.2", ["foo"])
        path = library(self.at("x.so"), needed=[other], rpath="$ORIGIN/other")
        self.assertEqual(self.agrees(path, "libfoo.so.2", LD_PRELOAD=mine), ["mine/libfoo.so.2"])

    def test_a_file_for_another_machine_is_passed_over(self):
        right = named(self.at("right"), "libfoo.so.2", ["foo"])
        path = library(self.at("x.so"), needed=[right], runpath="$ORIGIN/wrong:$ORIGIN/right")
        with open(named(self.at("wrong"), "libfoo.so.2", ["foo"]), "r+b") as file:
            file.seek(18)
            file.write(b"\x28\x00")
        self.assertEqual(self.agrees(path, "libfoo.so.2"), ["right/libfoo.so.2"])

    def test_a_version_that_the_winner_lacks_is_named(self):
        new = named(self.at("new"), "libfoo.so.2", ["foo"], versions="FOO_2 { global: foo; local: *; };")
        old = named(self.at("old"), "libfoo.so.2", ["foo"], versions="FOO_1 { global: foo; local: *; };")
        path = library(self.at("x.so"), wants=["foo"], needed=[new], runpath="$ORIGIN/new")
        self.assertEqual(self.process().dlopen(path).old, [])
        late = self.process(LD_LIBRARY_PATH=os.path.dirname(old)).dlopen(path).old
        self.assertEqual([(version, other.path) for _one, version, other in late], [("FOO_2", old)])
        with self.assertRaises(subprocess.CalledProcessError):
            maps(path, {"LD_LIBRARY_PATH": os.path.dirname(old)})

    def test_libraries_of_the_system_come_from_where_the_loader_takes_them(self):
        path = library(
            self.at("x.so"), wants=["cos"], needed=["-lm", "-lz"] if os.path.exists("/usr/include/zlib.h") else ["-lm"]
        )
        self.agrees(path)

    def test_the_cache_is_read_as_ldconfig_prints_it(self):
        ldconfig = shutil.which("ldconfig", path="/sbin:/usr/sbin:/bin:/usr/bin")
        if ldconfig is None or not os.path.exists("/etc/ld.so.cache"):
            self.skipTest("no ldconfig, or no cache, on this host")
        bits, ours = "x86-64" if os.uname().machine == "x86_64" else "AArch64", set()
        for line in subprocess.check_output([ldconfig, "-p"]).decode().splitlines():
            if "(libc6,%s)" % bits in line:
                ours.add((line.split()[0], line.split(" => ")[1]))
        read = cache.read(os.uname().machine, 64)
        self.assertEqual({(name, path) for name, paths in read.paths.items() for path in paths}, ours)
        self.assertNotEqual(ours, set())

    def test_a_cache_that_is_cut_has_no_entries(self):
        with open("/etc/ld.so.cache", "rb") as file:
            data = file.read()
        self.assertEqual(cache.Cache(data[: len(data) // 2], "x86_64", 64).paths, {})
        self.assertEqual(cache.Cache(b"", "x86_64", 64).paths, {})


class Words(unittest.TestCase):
    def test_names_of_symbols_can_be_read(self):
        for symbol, name in (
            ("_ZN3c104cuda9SetDeviceEa", "c10::cuda::SetDevice"),
            ("_ZNK2at6Tensor3sumEN3c1013OptionalArrayRefIlEE", "at::Tensor::sum"),
            ("_ZTVN5torch8autograd8FunctionE", "vtable of torch::autograd::Function"),
            ("_ZN3c1010TensorImplD1Ev", "c10::TensorImpl::~TensorImpl"),
            ("_ZSt4cout", "std::cout"),
            ("cuMemAlloc", "cuMemAlloc"),
            ("_Z", "_Z"),
        ):
            self.assertEqual(demangle(symbol), name)

    def test_the_loaders_own_words_are_understood(self):
        said = system.parse(
            'dl_dst_lib="lib64"\ndl_hwcaps_subdirs="x86-64-v4:x86-64-v3:x86-64-v2"\ndl_hwcaps_subdirs_active=0x3\n'
            'dl_platform="haswell"\npath.system_dirs[0x0]="/lib64/"\npath.system_dirs[0x1]="/usr/lib64/"\nother=0x1\n'
        )
        self.assertEqual(
            said,
            {
                "dirs": ["/lib64", "/usr/lib64"],
                "lib": "lib64",
                "platform": "haswell",
                "subdirs": ["x86-64-v3", "x86-64-v2"],
            },
        )

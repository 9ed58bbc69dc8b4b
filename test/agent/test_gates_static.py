import os
import unittest

from agent.gates import report
from test.agent.libraries import GCC, LIB, NO_GCC, TAG, Release, library, named

SET_DEVICE_OLD = "_ZN3c104cuda9SetDeviceEa"
SET_DEVICE_NEW = "_ZN3c104cuda9SetDeviceEab"


@unittest.skipUnless(GCC, NO_GCC)
class StaticGates(unittest.TestCase):
    def setUp(self):
        self.host = Release()
        self.addCleanup(self.host.remove)
        self.base, self.release, self.elsewhere = self.host.base, self.host.release, self.host.elsewhere

    def cudart(self, major, where=None):
        return named(where or self.elsewhere, "libcudart.so.%d" % major, ["cudaMalloc"])

    def kernel(self, prefix, name="sgl_kernel/common_ops.abi3.so", version="0.3.16", requires="torch==2.9.1", **more):
        self.host.put(prefix, name, **more)
        self.host.write(prefix, "sgl_kernel/__init__.py", "")
        self.host.dist(prefix, "sgl-kernel", version, [name, "sgl_kernel/__init__.py"], requires)


class MissingLibraries(StaticGates):
    def test_a_kernel_for_cuda_12_on_a_host_with_cuda_13_is_named_with_who_brings_it(self):
        self.host.torch(self.base)
        self.host.start()
        self.kernel(self.release, needed=[self.cudart(12)])
        self.assertEqual(
            self.host.told("problems"),
            [
                "libraries: sgl_kernel/common_ops.abi3.so (sgl-kernel 0.3.16) wants libcudart.so.12, which the loader finds nowhere; "
                "built for CUDA 12, torch 2.11.0+cu130 here is for CUDA 13.0; nvidia-cuda-runtime-cu12 brings it"
            ],
        )

    def test_what_is_accepted_by_soname_file_or_distribution_is_a_warning_and_the_rest_is_not(self):
        self.host.torch(self.base)
        self.host.start()
        self.kernel(self.release, needed=[self.cudart(12), named(self.elsewhere, "libmpi.so.40")])
        cudart, mpi = self.host.told("problems")
        self.assertIn("wants libcudart.so.12, which the loader finds nowhere", cudart)
        self.assertIn("wants libmpi.so.40, which the loader finds nowhere", mpi)
        self.host.accept = ["libmpi.so.*"]
        self.assertEqual(self.host.told("problems"), [cudart])
        self.assertEqual(self.host.told("warnings"), [mpi + "; passes as `acceptLibraries` says"])
        for accept in ("sgl_kernel/*.so", "sgl_kernel", "SGL-Kernel"):
            self.host.accept = [accept]
            self.assertEqual(self.host.told("problems"), [])
        self.host.accept = ["libmpi.so", "other-kernel"]
        self.assertEqual(self.host.told("problems"), [cudart, mpi])

    def test_it_passes_once_an_overlay_and_the_path_supply_it_and_two_runtimes_are_said(self):
        self.host.torch(self.base)
        self.host.start()
        self.kernel(self.release, needed=[self.cudart(12)])
        runtime = "nvidia/cuda_runtime/lib/libcudart.so.12"
        self.host.put(self.release, runtime, ["cudaMalloc"], soname="libcudart.so.12")
        self.host.dist(self.release, "nvidia-cuda-runtime-cu12", "12.8.90", [runtime])
        self.assertIn(
            "but no search path leads there: name its folder in LD_LIBRARY_PATH", self.host.told("problems")[0]
        )
        path = os.path.join(self.release, LIB, "nvidia/cuda_runtime/lib")
        self.assertEqual(self.host.told("problems", LD_LIBRARY_PATH=path), [])
        self.assertEqual(
            self.host.told("warnings", LD_LIBRARY_PATH=path),
            [
                "cuda: nvidia-cuda-runtime-cu12 12.8.90 is for CUDA 12, torch 2.11.0+cu130 is for CUDA 13.0",
                "cuda: sgl_kernel/common_ops.abi3.so (sgl-kernel 0.3.16) uses libcudart.so.12 of CUDA 12 (TOP/venvs/v/releases/r/%s/"
                "nvidia/cuda_runtime/lib/libcudart.so.12), torch 2.11.0+cu130 is for CUDA 13.0: two CUDA runtimes in one process"
                % LIB,
            ],
        )

    def test_what_torch_has_loaded_need_not_be_found_again(self):
        self.host.torch(self.base)
        self.host.put(self.base, "nvidia/cu13/lib/libcudart.so.13", ["cudaMalloc"], soname="libcudart.so.13")
        self.host.put(
            self.base,
            "torch/lib/libtorch_global_deps.so",
            needed=[os.path.join(self.base, LIB, "nvidia/cu13/lib/libcudart.so.13")],
            rpath="$ORIGIN/../../nvidia/cu13/lib",
        )
        self.host.start()
        self.kernel(self.release, wants=["cudaMalloc"], needed=[self.cudart(13)])
        self.assertEqual(self.host.told("problems"), [])

    def test_what_the_base_always_lacked_is_not_held_against_the_release(self):
        gone = named(self.elsewhere, "libgone.so.1", ["gone"])
        self.host.put(self.base, "old/_old.%s.so" % TAG, wants=["gone"], needed=[gone])
        self.kernel(self.base, needed=[self.cudart(12)])
        os.unlink(gone)
        self.host.start()
        self.kernel(self.release, defines=["more"], needed=[self.cudart(12)], version="0.3.17")
        results = self.host.results()
        self.assertEqual(self.host.told("problems") + self.host.told("warnings"), [])
        self.assertEqual(results["libraries"]["note"], "2 files, 1 changed; 2 shortcomings are the base's")

    def test_an_old_file_that_a_layer_took_a_library_from_is_a_problem(self):
        self.host.put(self.base, "foo/libfoo.so.2", ["foo"], soname="libfoo.so.2")
        foo = os.path.join(self.base, LIB, "foo", "libfoo.so.2")
        self.host.put(self.base, "kernels/_k.%s.so" % TAG, wants=["foo"], needed=[foo], runpath="$ORIGIN/../foo")
        self.host.start()
        os.unlink(os.path.join(self.release, LIB, "foo", "libfoo.so.2"))
        self.host.put(self.release, "foo/libfoo.so.3", ["foo"], soname="libfoo.so.3")
        self.assertEqual(
            self.host.told("problems"),
            ["libraries: kernels/_k.%s.so wants libfoo.so.2, which the loader finds nowhere" % TAG],
        )

    def test_libraries_of_the_driver_are_no_fault_of_the_release(self):
        self.host.torch(self.base)
        self.host.start()
        cuda = named(self.elsewhere, "libcuda.so.1", ["cuMemAlloc"])
        self.kernel(self.release, wants=["cuMemAlloc"], needed=[cuda])
        self.assertEqual(self.host.told("problems") + self.host.told("warnings"), [])
        self.assertEqual(self.host.results()["cuda"]["note"], "no driver here, not checked (libcuda.so.1)")

    def test_plugins_that_may_never_be_loaded_are_only_said_in_one_line(self):
        self.host.start()
        for number in (4, 5):
            name = "codec/libcodec_core%d.so" % number
            self.host.put(self.release, name, needed=[named(self.elsewhere, "libavutil.so.%d" % number)])
        self.host.dist(self.release, "codec", "1.0", ["codec/libcodec_core4.so", "codec/libcodec_core5.so"])
        self.assertEqual(self.host.told("problems"), [])
        self.assertEqual(
            self.host.told("warnings"),
            [
                "libraries: codec 1.0: 2 files, which may never be loaded, cannot be here: libcodec_core4.so wants libavutil.so.4"
            ],
        )

    def test_a_version_of_a_library_that_is_too_old_is_named(self):
        new = named(self.elsewhere + "/new", "libfoo.so.2", ["foo"], versions="FOO_2.1 { global: foo; local: *; };")
        old = named(self.elsewhere + "/old", "libfoo.so.2", ["foo"], versions="FOO_1.9 { global: foo; local: *; };")
        self.host.start()
        self.host.put(self.release, "kernels/_k.abi3.so", wants=["foo"], needed=[new])
        self.assertEqual(
            self.host.told("problems", LD_LIBRARY_PATH=os.path.dirname(old)),
            [
                "libraries: kernels/_k.abi3.so wants FOO_2.1 of libfoo.so.2, and TOP/elsewhere/old/libfoo.so.2 (by LD_LIBRARY_PATH) has up to FOO_1.9"
            ],
        )


class Winners(StaticGates):
    def test_an_older_library_that_ld_library_path_puts_first_is_named_with_what_it_lacks(self):
        old = named(self.elsewhere, "libfoo.so.2", ["foo_v1"])
        self.host.start()
        self.host.put(self.release, "foo/libfoo.so.2", ["foo_v1", "foo_v2"], soname="libfoo.so.2")
        new = os.path.join(self.release, LIB, "foo", "libfoo.so.2")
        self.host.put(self.release, "kernels/_k.%s.so" % TAG, wants=["foo_v2"], needed=[new], runpath="$ORIGIN/../foo")
        self.assertEqual(self.host.told("problems"), [])
        self.assertEqual(
            self.host.told("problems", LD_LIBRARY_PATH=os.path.dirname(old)),
            [
                "libraries: libfoo.so.2 is TOP/elsewhere/libfoo.so.2 (by LD_LIBRARY_PATH), and not foo/libfoo.so.2 that was laid; it lacks "
                "foo_v2, which kernels/_k.%s.so needs; take its folder out of LD_LIBRARY_PATH, or put TOP/venvs/v/releases/r/%s/foo before it"
                % (TAG, LIB)
            ],
        )
        both = os.path.dirname(new) + ":" + os.path.dirname(old)
        self.assertEqual(self.host.told("problems", LD_LIBRARY_PATH=both), [])

    def test_the_same_library_elsewhere_may_win(self):
        self.host.start()
        self.host.put(self.release, "foo/libfoo.so.2", ["foo"], soname="libfoo.so.2")
        new = os.path.join(self.release, LIB, "foo", "libfoo.so.2")
        os.makedirs(self.elsewhere)
        os.link(new, os.path.join(self.elsewhere, "libfoo.so.2"))
        self.host.put(self.release, "kernels/_k.abi3.so", wants=["foo"], needed=[new], runpath="$ORIGIN/../foo")
        self.assertEqual(self.host.told("problems", LD_LIBRARY_PATH=self.elsewhere), [])

    def test_what_wins_over_a_library_that_no_layer_brought_is_only_said(self):
        self.host.torch(self.base)
        self.host.put(
            self.base,
            "torch/_C.%s.so" % TAG,
            needed=[os.path.join(self.base, LIB, "torch/lib/libc10.so")],
            runpath="$ORIGIN/lib",
        )
        self.host.start()
        named(self.elsewhere, "libc10.so", ["other"])
        self.assertEqual(self.host.told("problems", LD_LIBRARY_PATH=self.elsewhere), [])
        warnings = self.host.told("warnings", LD_LIBRARY_PATH=self.elsewhere)
        self.assertEqual(len(warnings), 1)
        self.assertIn(
            "libc10.so is TOP/elsewhere/libc10.so (by LD_LIBRARY_PATH), and not torch/lib/libc10.so of the release",
            warnings[0],
        )


class Symbols(StaticGates):
    def test_a_kernel_built_for_another_torch_is_told_with_the_symbol_and_both_versions(self):
        self.host.torch(self.base, "2.9.1+cu128", "12.8", [SET_DEVICE_OLD])
        c10 = os.path.join(self.base, LIB, "torch/lib/libc10.so")
        self.kernel(self.base, wants=[SET_DEVICE_OLD], needed=[c10])
        self.host.start()
        self.host.torch(self.release, "2.11.0+cu130", "13.0", [SET_DEVICE_NEW])
        self.assertEqual(
            self.host.told("problems"),
            [
                "libraries: sgl_kernel/common_ops.abi3.so (sgl-kernel 0.3.16) wants c10::cuda::SetDevice (_ZN3c104cuda9SetDeviceEa), which torch "
                "2.11.0+cu130 of this release does not define; sgl-kernel 0.3.16 was built for another torch (it requires torch==2.9.1)"
            ],
        )

    def test_it_passes_with_the_kernel_of_that_torch(self):
        self.host.torch(self.base, "2.9.1+cu128", "12.8", [SET_DEVICE_OLD])
        self.kernel(self.base, wants=[SET_DEVICE_OLD], needed=[os.path.join(self.base, LIB, "torch/lib/libc10.so")])
        self.host.start()
        self.host.torch(self.release, "2.11.0+cu130", "13.0", [SET_DEVICE_NEW])
        c10 = os.path.join(self.release, LIB, "torch/lib/libc10.so")
        self.kernel(self.release, wants=[SET_DEVICE_NEW], needed=[c10], version="0.3.17", requires="torch==2.11.0")
        self.assertEqual(self.host.told("problems"), [])

    def test_a_module_for_another_python_is_told_by_its_symbols(self):
        self.host.start()
        self.host.put(self.release, "kernels/_k.abi3.so", wants=["PyNoSuchThing_Ever"])
        self.assertEqual(
            self.host.told("problems"),
            [
                "libraries: kernels/_k.abi3.so wants PyNoSuchThing_Ever, which this interpreter does not define: it was built for another Python"
            ],
        )

    def test_an_old_file_that_wants_what_the_new_library_dropped_is_a_problem(self):
        self.host.put(self.base, "foo/libfoo.so.2", ["foo_v1", "foo_v2"], soname="libfoo.so.2")
        foo = os.path.join(self.base, LIB, "foo", "libfoo.so.2")
        self.host.put(self.base, "kernels/_k.abi3.so", wants=["foo_v2"], needed=[foo], runpath="$ORIGIN/../foo")
        self.host.start()
        self.host.put(self.release, "foo/libfoo.so.2", ["foo_v1"], soname="libfoo.so.2")
        self.assertEqual(
            self.host.told("problems"),
            ["libraries: kernels/_k.abi3.so wants foo_v2, which nothing that it loads defines"],
        )

    def test_a_symbol_that_only_a_program_of_its_own_would_define_is_only_said(self):
        self.host.start()
        self.host.put(self.release, "kernels/_k.abi3.so", wants=["given_by_a_host_program"])
        self.assertEqual(self.host.told("problems"), [])
        self.assertEqual(
            self.host.told("warnings"),
            ["libraries: kernels/_k.abi3.so wants given_by_a_host_program, which nothing that it loads defines"],
        )


class Driver(StaticGates):
    def driver(self, version):
        """A libcuda that answers as the driver's does."""
        source = os.path.join(self.host.top, "cuda.c")
        with open(source, "w") as file:
            file.write("int cuDriverGetVersion(int *version) { *version = %d; return 0; }\n" % version)
        path = library(os.path.join(self.elsewhere, "libcuda.so.1"), soname="libcuda.so.1", needed=[source])
        os.chmod(path, 0o755)
        return os.path.dirname(path)

    def test_a_driver_that_is_too_old_for_the_torch_that_was_laid_stops_it(self):
        self.host.start()
        self.host.torch(self.release)
        told = self.host.told("problems", LD_LIBRARY_PATH=self.driver(12080))
        self.assertEqual(
            told,
            [
                "cuda: TOP/elsewhere/libcuda.so.1 offers CUDA 12.8, torch 2.11.0+cu130 is for CUDA 13.0; install a newer driver, "
                "or lay a torch for CUDA 12"
            ],
        )

    @unittest.skipIf(os.geteuid(), "only root takes care whose library it loads")
    def test_a_driver_library_that_others_can_write_is_not_loaded_as_root(self):
        self.host.start()
        self.host.torch(self.release)
        path = self.driver(12080)
        os.chmod(os.path.join(path, "libcuda.so.1"), 0o777)
        self.assertEqual(self.host.told("problems", LD_LIBRARY_PATH=path), [])
        self.assertEqual(
            self.host.told("warnings", LD_LIBRARY_PATH=path),
            [
                "cuda: the driver's version cannot be asked: TOP/elsewhere/libcuda.so.1 can be written by others than root, so it was not loaded to be asked"
            ],
        )

    def test_a_driver_of_the_same_major_is_only_said_and_a_newer_one_passes(self):
        self.host.start()
        self.host.torch(self.release, "2.11.0+cu132", "13.2")
        path = self.driver(13000)
        self.assertEqual(self.host.told("problems", LD_LIBRARY_PATH=path), [])
        self.assertEqual(len(self.host.told("warnings", LD_LIBRARY_PATH=path)), 1)
        note = self.host.results(LD_LIBRARY_PATH=self.driver(14000))["cuda"]["note"].replace(self.host.top, "TOP")
        self.assertEqual(note, "torch 2.11.0+cu132 for CUDA 13.2; driver offers CUDA 14.0 (TOP/elsewhere/libcuda.so.1)")


class Versions(StaticGates):
    def test_code_and_metadata_of_torch_that_are_of_two_builds_are_told(self):
        self.host.torch(self.base, "2.11.0+cu128", "12.8")
        self.host.start()
        self.host.dist(self.release, "torch", "2.11.0+cu130", ["torch/__init__.py", "torch/version.py"])
        self.assertEqual(
            self.host.told("problems"),
            [
                "versions: torch/version.py says 2.11.0+cu128, the metadata of torch says 2.11.0+cu130: code and metadata are not of one build"
            ],
        )

    def test_metadata_without_a_label_agrees_with_any(self):
        self.host.start()
        self.host.torch(self.release, "2.11.0+cu130", "13.0")
        os.rename(
            os.path.join(self.release, LIB, "torch-2.11.0+cu130.dist-info"),
            os.path.join(self.release, LIB, "torch-2.11.0.dist-info"),
        )
        self.assertEqual(self.host.told("problems") + self.host.told("warnings"), [])

    def test_a_sibling_that_was_left_behind_when_torch_was_replaced_is_told_with_both_versions(self):
        self.host.torch(self.base, "2.9.1+cu128", "12.8")
        self.host.write(self.base, "torchvision/version.py", "__version__ = '0.24.1+cu128'\n")
        self.host.start()
        self.host.torch(self.release, "2.11.0+cu130", "13.0")
        self.assertEqual(
            self.host.told("problems"),
            ["versions: torchvision 0.24.1+cu128 is for CUDA 12, torch 2.11.0+cu130 is for CUDA 13.0"],
        )

    def test_a_distribution_whose_modules_are_all_for_another_python_is_told(self):
        self.host.start()
        self.host.put(self.release, "kernels/_k.cpython-399-%s-linux-gnu.so" % os.uname().machine)
        self.host.dist(self.release, "kernels", "1.0", ["kernels/_k.cpython-399-%s-linux-gnu.so" % os.uname().machine])
        told = self.host.told("problems")
        self.assertEqual(len(told), 1)
        self.assertIn("versions: 1 of 1 changed extension modules of kernels 1.0 are not for this Python", told[0])
        self.host.put(self.release, "kernels/_k.%s.so" % TAG)
        self.host.dist(
            self.release,
            "kernels",
            "1.0",
            ["kernels/_k.cpython-399-%s-linux-gnu.so" % os.uname().machine, "kernels/_k.%s.so" % TAG],
        )
        self.assertEqual(self.host.told("problems"), [])

    def test_a_wheel_for_a_newer_libc_that_came_from_a_donor_is_told(self):
        self.host.start()
        self.host.dist(self.release, "kernels", "1.0", [])
        self.host.write(
            self.release, "kernels-1.0.dist-info/WHEEL", "Tag: py3-none-manylinux_2_99_%s\n" % os.uname().machine
        )
        told = self.host.told("problems")
        self.assertEqual(len(told), 1)
        self.assertTrue(
            told[0].startswith(
                "versions: kernels 1.0 was built for py3-none-manylinux_2_99_%s, this release is CPython "
                % os.uname().machine
            ),
            told,
        )


class Report(unittest.TestCase):
    def test_the_table_has_a_line_for_each_cause(self):
        gates = [
            {
                "gate": "libraries",
                "ok": False,
                "seconds": 1.234,
                "note": "9 files",
                "problems": [{"text": "a"}, {"text": "b"}],
                "warnings": ["c"],
            },
            {"gate": "cuda", "ok": True, "seconds": 0.0, "note": "no driver here", "problems": [], "warnings": []},
        ]
        self.assertEqual(
            report.table(gates),
            [
                "gate       result  seconds  cause",
                "libraries  failed     1.23  a",
                "           failed           b",
                "           warns            c",
                "cuda       passed     0.00  no driver here",
            ],
        )

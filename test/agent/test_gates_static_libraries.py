"""Static gates: libraries that are missing, and which of several wins."""

import os

from test.agent.libraries import LIB, TAG, named
from test.agent.static_case import StaticGates


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

"""Static gates: symbols that a library wants and no other has."""

import os

from test.agent.libraries import LIB
from test.agent.static_case import SET_DEVICE_NEW, SET_DEVICE_OLD, StaticGates


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

"""Static gates: the driver of the host, and what was built for a newer one."""

import os
import unittest

from test.agent.libraries import library
from test.agent.static_case import StaticGates


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

"""A test case of the static gates, with libraries that are built for it."""

import unittest

from test.agent.libraries import GCC, NO_GCC, Release, named

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

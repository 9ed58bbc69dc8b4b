"""Static gates: what has a library's name and is none."""

import os

from agent.gates.static import changes
from agent.gates.static.elf import Elf
from test.agent.libraries import TAG, named
from test.agent.static_case import StaticGates


class DamagedLibraries(StaticGates):
    def setUp(self):
        super().setUp()
        self.host.torch(self.base)
        self.host.start()

    def put(self, name, data):
        """A file of the distribution `x` 1, which a layer brought; its path."""
        path = os.path.join(self.host.site(self.release), "x", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        self.host.dist(self.release, "x", "1", ["x/" + name])
        return path

    def test_an_extension_module_that_is_no_library_fails_and_what_may_be_a_text_warns(self):
        for data, reason in (
            (b"", "it is empty"),
            (b"version https://git-lfs.github.com/spec/v1\n", "it is no ELF file"),
            (b"\x7fELF\x02\x02" + b"\0" * 60, "it is no little-endian ELF file"),
        ):
            path = self.put("ops.%s.so" % TAG, data)
            told = "libraries: x/ops.%s.so (x 1) cannot be loaded: %s" % (TAG, reason)
            self.assertEqual(self.host.told("problems"), [told])
            os.unlink(path)
        path = self.put("libx.so", b"INPUT(-lm)\n")
        self.assertEqual(
            (self.host.told("problems"), self.host.told("warnings")),
            ([], ["libraries: x/libx.so (x 1) cannot be loaded: it is no ELF file"]),
        )
        os.unlink(path)
        self.put("ops.cpython-39-x86_64-linux-gnu.so", b"")
        self.assertEqual(self.host.told("problems"), [])

    def test_what_the_base_had_already_is_not_told(self):
        self.host.write(self.base, "old.%s.so" % TAG, "")
        self.host.write(self.release, "old.%s.so" % TAG, "")
        self.assertEqual(self.host.told("problems"), [])

    def test_a_module_for_32_bit_is_told_as_such(self):
        path = named(os.path.join(self.host.site(self.release), "x"), "ops.%s.so" % TAG)
        with open(path, "rb") as file:
            data = bytearray(file.read())
        data[4] = 1
        data[44:46] = b"\0\0"
        self.put(os.path.basename(path), data)
        [told] = self.host.told("problems")
        self.assertRegex(told, r"^versions: 1 of 1 changed extension modules of x 1 .* is for \w+, 32 bit$")

    def test_gigabytes_of_nothing_are_not_read(self):
        path = named(os.path.join(self.host.site(self.release), "x"), "libbig.so")
        os.truncate(path, 8 << 30)
        self.put("empty.so", b"")
        os.truncate(os.path.join(os.path.dirname(path), "empty.so"), 8 << 30)
        before = os.times()
        self.assertEqual(
            self.host.told("warnings"), ["libraries: x/empty.so (x 1) cannot be loaded: it is no ELF file"]
        )
        self.assertLess(os.times().user + os.times().system - before.user - before.system, 2)

    def test_a_pipe_under_a_library_s_name_keeps_nobody_waiting(self):
        path = self.put("ops.%s.so" % TAG, b"")
        os.unlink(path)
        os.mkfifo(path)
        with self.assertRaises(OSError):
            Elf(path)
        self.assertEqual(self.host.told("problems"), [])

    def test_a_library_whose_notes_lead_nowhere_is_compared_by_its_bytes(self):
        base = named(os.path.join(self.host.site(self.base), "y"), "liby.so")
        with open(base, "rb") as file:
            data = bytearray(file.read())
        for at in range(64, 64 + 56 * int.from_bytes(data[56:58], "little"), 56):
            if data[at] == 4:
                data[at + 8 : at + 16] = b"\xff" * 8
        other = os.path.join(self.host.elsewhere, "liby.so")
        os.makedirs(self.host.elsewhere, exist_ok=True)
        for path in (base, other):
            with open(path, "wb") as file:
                file.write(data)
        self.assertTrue(changes.same(base, other))
        with open(other, "r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(b"!")
        self.assertFalse(changes.same(base, other))

import contextlib
import os
import socket
import unittest
from unittest import mock

from agent.service import sockets, v6only


@contextlib.contextmanager
def listening(address, v6only=1):
    """The port of a listener on an address of this host."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as listener:
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, v6only)
        listener.bind((address, 0))
        listener.listen()
        yield listener.getsockname()[1]


class AListener(unittest.TestCase):
    def kept(self, address, wanted, v6only=1):
        with listening(address, v6only) as port:
            return sockets.holders(wanted, port) == ([os.getpid()], 0)

    def test_keeps_its_own_address_and_the_one_that_is_all_of_them(self):
        for address, wanted in (("127.0.0.1", "127.0.0.1"), ("127.0.0.2", "0.0.0.0"), ("0.0.0.0", "127.0.0.1")):
            self.assertTrue(self.kept(address, wanted), (address, wanted))
        self.assertFalse(self.kept("127.0.0.2", "127.0.0.1"))

    @unittest.skipUnless(os.path.exists("/proc/net/if_inet6"), "this host has no IPv6")
    def test_of_ipv6_keeps_no_address_of_ipv4_unless_it_listens_on_all_of_them(self):
        for address, wanted in (("::1", "::1"), ("::1", "::"), ("0.0.0.0", "::")):
            self.assertTrue(self.kept(address, wanted), (address, wanted))
        self.assertTrue(self.kept("::", "0.0.0.0", v6only=0))
        self.assertTrue(self.kept("::", "::1"))
        for address, wanted in (("::", "0.0.0.0"), ("::", "127.0.0.1")):
            self.assertFalse(self.kept(address, wanted), (address, wanted))
        for address, wanted in (("::1", "0.0.0.0"), ("::1", "127.0.0.1"), ("0.0.0.0", "::1"), ("127.0.0.1", "::1")):
            self.assertFalse(self.kept(address, wanted), (address, wanted))

    @unittest.skipUnless(os.path.exists("/proc/net/if_inet6"), "this host has no IPv6")
    def test_on_all_of_ipv6_is_taken_to_keep_ipv4_too_where_the_kernel_does_not_tell(self):
        with mock.patch.object(v6only, "_NETLINK_SOCK_DIAG", 31):
            self.assertEqual(v6only.inodes(), set())
            self.assertTrue(self.kept("::", "0.0.0.0"))

    @unittest.skipUnless(os.path.exists("/proc/net/if_inet6"), "this host has no IPv6")
    def test_of_ipv6_alone_is_told_among_more_than_one_answer_of_the_kernel_holds(self):
        with contextlib.ExitStack() as opened:
            alone = [opened.enter_context(socket.socket(socket.AF_INET6)) for _ in range(600)]
            for listener in alone:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                listener.bind(("::", 0))
                listener.listen()
            self.assertLessEqual({os.fstat(one.fileno()).st_ino for one in alone}, v6only.inodes())

    @unittest.skipUnless(os.path.exists("/proc/net/if_inet6"), "this host has no IPv6")
    def test_that_has_an_address_of_ipv4_through_a_socket_of_ipv6_keeps_that_one(self):
        for address in ("::ffff:127.0.0.1", "::ffff:0.0.0.0"):
            self.assertTrue(self.kept(address, "127.0.0.1", v6only=0), address)
            self.assertFalse(self.kept(address, "::1", v6only=0), address)


if __name__ == "__main__":
    unittest.main()

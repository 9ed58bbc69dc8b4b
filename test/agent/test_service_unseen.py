"""A port whose holder cannot be seen from here: forgiven only where it may be the very server that is to be replaced."""

import os
import socket
import tempfile
import unittest

from agent.files import write_json
from agent.layout import Layout
from agent.service.place import Place
from agent.service.ports import port


class AnUnseenHolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = Place(Layout(folder.name), "chat")
        os.makedirs(self.place.dir)
        # A socket on its way from one process to another listens, and is in nobody's table of files.
        ends = socket.socketpair()
        for end in ends:
            self.addCleanup(end.close)
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        socket.send_fds(ends[0], [b"-"], [listener.fileno()])
        listener.close()
        self.spec = {"address": "127.0.0.1", "port": self.port}

    def kept(self, port):
        spec = {"supervisor": "process", "stopTimeout": 1, "argv": [], "environ": {}, "config": None}
        write_json(self.place.spec, dict(spec, port=port))

    def test_may_be_our_own_server_when_that_has_this_port(self):
        self.kept(self.port)
        self.assertEqual(port(self.place, self.spec, [os.getpid()]), [])

    def test_is_a_foreign_one_when_our_server_has_another_port(self):
        self.kept(self.port - 1)
        problems = port(self.place, self.spec, [os.getpid()])
        self.assertEqual(
            [problem.message for problem in problems],
            ["port %d is taken by a process that cannot be seen from here" % self.port],
        )

    def test_is_a_foreign_one_when_nothing_of_ours_runs(self):
        self.kept(self.port)
        self.assertEqual([problem.code for problem in port(self.place, self.spec, [])], ["port-taken"])


if __name__ == "__main__":
    unittest.main()

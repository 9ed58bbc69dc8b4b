"""What the tests of the agent share: requests as the frame loop would make them, and throw-away roots."""

import io
import os
import tempfile
import threading
import unittest

from agent.fault import Fault
from agent.layout import Layout
from agent.request import Request


def make_request(root, body=b"", cancelled=None, **args):
    """A request below `root`; `said` collects its progress, `replied` the bytes it sends back."""
    said, replied = [], []
    request = Request(
        dict(args, root=root, by={"host": "control", "user": "me", "pid": 7}),
        io.BytesIO(body),
        len(body),
        said.append,
        cancelled or threading.Event(),
        replied.append,
    )
    request.said, request.replied = said, replied
    return request


def claim_of(kind, name, owner="o1", urn="urn:1", **more):
    return dict(more, kind=kind, name=name, owner=owner, urn=urn)


class RootTest(unittest.TestCase):
    """A test below a root that does not exist yet; its parent does."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.parent = os.path.realpath(scratch.name)
        self.root = os.path.join(self.parent, "a", "root")
        self.layout = Layout(self.root)

    def request(self, **args):
        return make_request(self.root, **args)

    def fault(self, code, call, *args):
        """What `call` refuses with; `code` is checked."""
        with self.assertRaises(Fault) as caught:
            call(*args)
        self.assertEqual(caught.exception.code, code)
        return caught.exception

    def files(self, top=None):
        """Every file below the root (or `top`), relative."""
        top = top or self.root
        return sorted(
            os.path.relpath(os.path.join(folder, name), top) for folder, _, names in os.walk(top) for name in names
        )

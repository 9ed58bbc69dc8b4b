"""A test case with a service host of its own, and releases that misbehave."""

import unittest
import unittest.mock

from test.agent.service_host import ServiceHost

#: Laid into a release: its server dies a second after it is ready.
DIES = "import os; os.environ['STANDIN_DIE_AFTER'] = '1'"
#: Laid into a release: its server never becomes ready.
NEVER = "import os; os.environ['STANDIN_NEVER_READY'] = '1'"


class Case(unittest.TestCase):
    """Leaves nothing of its host behind."""

    def setUp(self):
        self.host = ServiceHost()
        self.addCleanup(self.host.close)
        # What the gates do is tested elsewhere; they take half of the time here.
        self.gates = unittest.mock.patch("agent.service.activate.gates", return_value=[])
        self.gates.start()
        self.addCleanup(unittest.mock.patch.stopall)

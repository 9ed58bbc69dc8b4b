import unittest
import unittest.mock

from agent.layout import Layout
from agent.service import preflight
from agent.service.place import Place


class APortThatIsTaken(unittest.TestCase):
    def remedy(self, word):
        with unittest.mock.patch("agent.service.preflight.proc.cmdline", return_value=[word, "-m", "x"]):
            return preflight.remedy_of(Place(Layout("/srv/fleet"), "s"), [7])

    def test_by_another_service_of_the_root_is_freed_by_changing_that_one(self):
        self.assertEqual(
            self.remedy("/srv/fleet/services/other/venv/bin/python"),
            "that is service `other`: change its port, or remove it, in an `up` before this one",
        )

    def test_by_anything_else_is_freed_by_hand(self):
        self.assertEqual(self.remedy("/usr/bin/nginx"), "end that process if it may end, or set another `port`")


if __name__ == "__main__":
    unittest.main()

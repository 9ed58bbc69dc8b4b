import subprocess
import sys
import unittest

from agent.alone import assembled

MODULES = {
    "agent.kin": "def told():\n    return 7\n",
    "agent.tells": "import json\n\nfrom agent.kin import told\n\nprint(json.dumps(told()))\n",
    "agent.greedy": "from agent.kin import (\n    told,\n)\n",
}


class Alone(unittest.TestCase):
    def test_modules_in_one_file_run_without_the_agent(self):
        text = assembled(("agent.kin", "agent.tells"), MODULES.__getitem__)
        self.assertEqual(subprocess.check_output([sys.executable, "-I", "-c", text]), b"7\n")

    def test_what_would_still_want_the_agent_is_refused(self):
        with self.assertRaises(ValueError):
            assembled(("agent.kin", "agent.greedy"), MODULES.__getitem__)

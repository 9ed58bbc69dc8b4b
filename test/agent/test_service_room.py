"""An activation on a disk that fills up, or with a clock that is set: it ends in the old state by itself."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest
import unittest.mock

from agent.files import write_json
from agent.service import activation
from test.agent.service_host import KIND, ServiceHost

FILLS = """exec(\"\"\"
import os
with open({path!r}, 'ab', 0) as file:
    for size in (65536, 1):
        try:
            while True:
                file.write(b'x' * size)
        except OSError:
            pass
os.environ['STANDIN_NEVER_READY'] = '1'
\"\"\")""".replace("\n", "\\n")


def can_mount():
    if os.geteuid() != 0:
        return False
    with tempfile.TemporaryDirectory() as place:
        made = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], stderr=subprocess.DEVNULL).returncode == 0
        return made and subprocess.run(["umount", place]).returncode == 0


@unittest.skipUnless(KIND == "process" and can_mount(), "needs a small file system of its own")
class AFullDisk(unittest.TestCase):
    def setUp(self):
        self.disk = os.path.realpath(tempfile.mkdtemp(prefix="small-"))
        self.addCleanup(shutil.rmtree, self.disk, ignore_errors=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=140m", "tmpfs", self.disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.disk])
        os.mkdir(os.path.join(self.disk, "top"))
        self.host = ServiceHost(os.path.join(self.disk, "top"))
        self.addCleanup(self.host.close)
        unittest.mock.patch("agent.service.activate.gates").start()
        self.addCleanup(unittest.mock.patch.stopall)

    def test_that_the_new_server_has_filled_leaves_room_for_the_way_back(self):
        self.host.activate("r1")
        self.host.release("r3", start=FILLS.format(path=os.path.join(self.disk, "fill")))
        fault = self.host.fails("r3", ready={"timeout": 3})
        self.assertEqual(fault.more["restored"], "release r1 runs again and answers")
        self.assertEqual((self.host.text(), self.host.look()["activation"]["state"]), ("Paris.", "rolled-back"))
        self.assertFalse(os.path.exists(self.host.place.reserve))


class AClock(unittest.TestCase):
    def test_that_was_set_back_makes_no_cut_activation_look_at_work(self):
        host = ServiceHost()
        self.addCleanup(host.close)
        os.makedirs(host.place.activation())
        for started, state in ((time.time() + 3600, "interrupted"), (time.time(), "running")):
            write_json(host.place.activation("job.json"), {"id": "a", "started": started, "detached": "process"})
            self.assertEqual(activation.status(host.place)[0], state)


if __name__ == "__main__":
    unittest.main()

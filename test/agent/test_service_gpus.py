import os
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock

from agent.layout import Layout
from agent.service.gpus import gpus
from agent.service.place import Place
from test.agent.service_host import ServiceHost

CARDS = ["0, GPU-aaaa, NVIDIA H200", "1, GPU-bbbb, NVIDIA H200"]
SMI = """#!/bin/sh
case $1 in
    --query-gpu=index,uuid,name) cat "$(dirname "$0")/cards" ;;
    --query-compute-apps=pid,used_memory,gpu_uuid) cat "$(dirname "$0")/apps" ;;
    *) exit 1 ;;
esac
"""


class Driver:
    """An `nvidia-smi` in a folder of its own, first on PATH, that tells of `cards` and `apps`."""

    def __init__(self, case, cards=CARDS):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="smi-"))
        case.addCleanup(shutil.rmtree, self.folder)
        self.write("nvidia-smi", SMI)
        os.chmod(os.path.join(self.folder, "nvidia-smi"), 0o755)
        self.write("cards", "\n".join(cards) + "\n")
        self.write("apps", "")
        path = {"PATH": self.folder + os.pathsep + os.environ["PATH"]}
        patch = unittest.mock.patch.dict(os.environ, path)
        patch.start()
        case.addCleanup(patch.stop)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def held(self, pid, card):
        self.write("apps", "%d, 70144 MiB, %s\n" % (pid, card))


def holder(case):
    """A process that is nobody's of ours."""
    process = subprocess.Popen(["sleep", "300"])
    case.addCleanup(process.wait)
    case.addCleanup(process.kill)
    return process


class Gpus(unittest.TestCase):
    def found(self, visible, ours=(), share=False, order=None):
        environ = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
        environ.update({} if order is None else {"CUDA_DEVICE_ORDER": order})
        spec = {"environ": environ, "shareGpus": share}
        return [(fault.code, fault.message) for fault in gpus(Place(Layout("/srv/fleet"), "s"), spec, list(ours))]

    def test_that_another_process_holds_are_refused_with_who_it_is(self):
        driver, process = Driver(self), holder(self)
        driver.held(process.pid, "GPU-bbbb")
        who = r"pid %d \(user \w+, sleep 300, \d+ s\)" % process.pid
        for visible in ("1", "0,1", "GPU-bb"):
            [(code, message)] = self.found(visible)
            self.assertEqual(code, "gpu-held")
            self.assertRegex(message, r"^GPU %s is held by %s with 70144 MiB$" % (visible.split(",")[-1], who))

    def test_that_are_free_our_own_shared_or_of_others_alone_pass(self):
        driver, process = Driver(self), holder(self)
        self.assertEqual(self.found("0,1"), [])
        driver.held(process.pid, "GPU-bbbb")
        self.assertEqual(self.found("1", ours=[process.pid]), [])
        self.assertEqual(self.found("1", share=True), [])
        for visible in ("0", "", None):
            self.assertEqual(self.found(visible), [])

    def test_that_are_not_there_are_told_with_those_that_are(self):
        Driver(self)
        self.assertEqual(self.found("7", share=True), [("no-gpu", "there is no GPU 7 on this host: it has 0, 1")])

    def test_whose_numbers_mean_others_to_cuda_are_not_judged_by_number(self):
        driver, process = Driver(self, ["0, GPU-aaaa, NVIDIA T4", "1, GPU-bbbb, NVIDIA H200"]), holder(self)
        driver.held(process.pid, "GPU-bbbb")
        self.assertEqual(self.found("1"), [])
        self.assertEqual([code for code, _ in self.found("1", order="PCI_BUS_ID")], ["gpu-held"])

    def test_cannot_be_judged_without_a_driver(self):
        Driver(self, [])
        self.assertEqual(self.found("0"), [])

    def test_that_are_held_leave_the_running_server_alone(self):
        host = ServiceHost()
        self.addCleanup(host.close)
        host.activate("r1")
        pid = host.pid()
        Driver(self).held(holder(self).pid, "GPU-aaaa")
        host.variables("e2", {"CUDA_VISIBLE_DEVICES": "0"})
        fault = host.fails("r2", env="e2")
        self.assertEqual((fault.code, fault.more["where"]), ("gpu-held", "GPU 0"))
        self.assertEqual(host.pid(), pid)
        host.activate("r2", env="e2", spec={"shareGpus": True})
        self.assertEqual(host.text(), "Paris.")


if __name__ == "__main__":
    unittest.main()

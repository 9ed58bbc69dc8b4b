import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

from agent.layout import Layout
from agent.service import ports, preflight
from agent.service.place import Place

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class ALog(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="log-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def found(self, path):
        place = Place(Layout("/srv/fleet"), "s")
        return [fault.more["found"] for fault in preflight.log(place, {"log": path}, [])]

    def test_that_is_a_file_or_can_be_made_is_good(self):
        with open(os.path.join(self.folder, "there"), "w"):
            pass
        for path in (None, "/dev/null", self.folder + "/there", self.folder + "/not/yet/there"):
            self.assertEqual(self.found(path), [])

    def test_that_would_hang_or_fail_after_the_stop_is_refused_before(self):
        os.mkfifo(self.folder + "/pipe")
        os.symlink("/nowhere/at/all", self.folder + "/link")
        for path, top in (("/pipe", "/pipe"), ("", ""), ("/pipe/below", "/pipe"), ("/link", "/link")):
            self.assertEqual(
                self.found(self.folder + path), [self.folder + top + " is neither a file nor a folder for it"]
            )
        self.assertEqual(self.found("/dev/full"), ["/dev/full is neither a file nor a folder for it"])


#: Prints what one check of the preflight finds for a spec: both are its arguments.
ASK = """
import json, sys
from agent.service import preflight
found = getattr(preflight, sys.argv[1])(None, json.loads(sys.argv[2]), [])
print(json.dumps([[fault.code, fault.message, fault.more["remedy"]] for fault in found]))
"""


def asked(before, check, spec):
    """What a check finds in a process that is started through the words `before`."""
    argv = before + [sys.executable, "-c", ASK, check, json.dumps(spec)]
    return json.loads(subprocess.check_output(argv, cwd=TOP))


@unittest.skipUnless(os.geteuid() == 0, "needs root: a mount of its own, fewer capabilities")
class WhatTheHostAllows(unittest.TestCase):
    def test_a_dev_shm_without_room_is_told_with_what_fills_it_and_left_as_it_is(self):
        small = "mount -t tmpfs -o size=1m tmpfs /dev/shm && head -c 307200 /dev/zero >/dev/shm/nccl-1a2b"
        before = [
            "unshare",
            "--mount",
            "--propagation",
            "private",
            "sh",
            "-c",
            small + ' && "$@" && test -s /dev/shm/nccl-1a2b',
            "-",
        ]
        self.assertEqual(
            asked(before, "memory", {}),
            [
                [
                    "shm",
                    "/dev/shm has 724 kB left, too little to start; the largest in it: nccl-1a2b (300 kB)",
                    "make it larger (docker: --shm-size), or remove what no living process uses",
                ]
            ],
        )

    def test_a_limit_that_cannot_be_had_is_told_with_what_can(self):
        before = ["setpriv", "--bounding-set=-sys_resource", "prlimit", "--memlock=65536:65536"]
        spec = {"supervisor": "process", "limits": {"memlock": "infinity", "core": "0"}}
        [[code, message, remedy]] = asked(before, "limits", spec)
        self.assertEqual(
            (code, message),
            ("limit", "limit memlock cannot be raised to infinity on this host: the most that is allowed is 65536"),
        )
        self.assertIn("docker: --ulimit", remedy)
        self.assertEqual(asked(before, "limits", {"supervisor": "process", "limits": {"memlock": "4096"}}), [])


class APortThatIsTaken(unittest.TestCase):
    def remedy(self, word):
        with unittest.mock.patch("agent.service.ports.proc.cmdline", return_value=[word, "-m", "x"]):
            return ports.remedy_of(Place(Layout("/srv/fleet"), "s"), [7])

    def test_by_another_service_of_the_root_is_freed_by_changing_that_one(self):
        self.assertEqual(
            self.remedy("/srv/fleet/services/other/venv/bin/python"),
            "that is service `other`: change its port, or remove it, in an `up` before this one",
        )

    def test_by_a_server_that_somebody_started_from_the_venv_of_this_very_service_is_freed_by_ending_it(self):
        self.assertEqual(
            self.remedy("/srv/fleet/services/s/venv/bin/python"),
            "end it (kill 7): somebody started it from this service's venv, and nothing here keeps it",
        )

    def test_by_a_service_of_another_root_is_freed_in_the_stack_that_has_that_and_not_by_hand(self):
        root = os.path.realpath(tempfile.mkdtemp(prefix="root-"))
        self.addCleanup(shutil.rmtree, root)
        os.makedirs(root + "/services/chat")
        with open(root + "/services/chat/spec.json", "w"):
            pass
        self.assertEqual(
            self.remedy(root + "/services/chat/venv/bin/python"),
            "that is service `chat` of %s: change its port, or remove it, in the stack that has it" % root,
        )

    def test_by_anything_else_is_freed_by_hand(self):
        self.assertEqual(self.remedy("/usr/bin/nginx"), "end that process if it may end, or set another `port`")


class AnAddress(unittest.TestCase):
    def fault(self, address, port):
        found = ports.bindable(Place(Layout("/srv/fleet"), "s"), {"address": address, "port": port}, [])
        self.assertEqual(len(found), 1)
        return found[0]

    def test_that_an_outgoing_connection_holds_is_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
            port = client.getsockname()[1]
            fault = self.fault("127.0.0.1", port)
        self.assertEqual(
            (fault.code, fault.message),
            (
                "port-taken",
                "port %d is taken, though nobody listens on it: by an outgoing connection, or a socket that only holds it"
                % port,
            ),
        )
        self.assertIn("which this host gives to outgoing connections", fault.more["remedy"])

    def test_that_is_not_this_hosts_is_said(self):
        self.assertEqual(self.fault("192.0.2.1", 30000).code, "no-address")
        self.assertEqual(self.fault("no.such.host.invalid", 30000).code, "no-address")

    def test_on_which_somebody_listens_is_judged_by_who_that_is(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            spec = {"address": "127.0.0.1", "port": server.getsockname()[1]}
            self.assertEqual(ports.bindable(None, spec, []), [])

    def test_that_is_free_is_good(self):
        for address in ("127.0.0.1", "0.0.0.0", "localhost"):
            self.assertEqual(ports.bindable(None, {"address": address, "port": 17}, []), [])


if __name__ == "__main__":
    unittest.main()

"""The service's tests again where they count: on a host with systemd, cut by SIGKILL and by a reboot."""

import json
import os
import subprocess
import sys
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOSTS = [sys.executable, os.path.join(TOP, "test", "hosts", "hosts")]
NAME = "svc%d" % os.getpid()


def hosts(*words, **more):
    return subprocess.run(HOSTS + list(words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)


def missing():
    """Why there can be no hosts here, or an empty text."""
    done = hosts("check")
    return done.stdout.decode().strip() if done.returncode else ""


def on_host(script):
    """(exit, output) of a bash script in the tree on the host."""
    done = hosts("exec", NAME, "bash", "-c", "cd /root/tree && " + script)
    return done.returncode, done.stdout.decode()


@unittest.skipIf(missing(), missing())
class OnAHostWithSystemd(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        up = hosts("up", NAME, "--while", str(os.getpid()))
        cls.addClassCleanup(hosts, "down", NAME)
        if up.returncode != 0:
            raise AssertionError(up.stdout.decode())
        parts = ["agent", "test/__init__.py", "test/agent", "test/standin", "test/hosts/rebooted.py"]
        tree = subprocess.run(
            ["tar", "-cf", "-", "--exclude=__pycache__"] + parts, cwd=TOP, stdout=subprocess.PIPE, check=True
        ).stdout
        hosts("exec", NAME, "bash", "-c", "mkdir -p /root/tree && tar -C /root/tree -xf -", input=tree, check=True)

    def passes(self, *modules):
        names = " ".join("test.agent." + module for module in modules)
        exit, out = on_host("SGLANG_TEST_SUPERVISOR=systemd python3 -m unittest " + names)
        self.assertEqual(exit, 0, out)

    def test_a_service_is_activated_followed_cancelled_and_removed(self):
        self.passes("test_service_activate", "test_service_failed", "test_service_stop")

    def test_units_users_logs_and_limits_are_as_declared(self):
        self.passes("test_service_systemd")

    def test_without_root_the_units_are_the_users_own(self):
        exit, out = on_host(
            "cp -r /root/tree /home/tree && chmod -R a+rX /home/tree && loginctl enable-linger user-plain && sleep 2; "
            "systemctl is-active user@$(id -u user-plain)"
        )
        if exit != 0:
            self.skipTest("no manager for users on this host: " + out.strip().split("\n")[-1])
        tests = (
            "test_service_activate.AnActivation test_service_stop.ARemoval test_service_cut.TheWayForward "
            "test_service_failed.AFailedActivation"
        )
        names = " ".join("test.agent." + name for name in tests.split())
        exit, out = on_host(
            "runuser -l user-plain -c 'cd /home/tree && SGLANG_TEST_SUPERVISOR=systemd python3 -m unittest %s'" % names
        )
        self.assertEqual(exit, 0, out)

    def test_an_activation_cut_by_sigkill_in_each_stage_ends_old_or_new(self):
        self.passes("test_service_cut")

    def test_an_activation_cut_by_a_loss_of_power_ends_old_or_new(self):
        points = [
            ("save", "end", "r1"),
            ("drain", "begin", "r1"),
            ("stop", "begin", "r1"),
            ("stop", "end", "r1"),
            ("switch", "begin", "r1"),
            ("switch", "end", "r1"),
            ("start", "end", "r1"),
            ("wait", "end", "r1"),
            ("prove", "end", "r1"),
            ("commit", "end", "r2"),
        ]
        for stage, event, release in points:
            with self.subTest("%s %s" % (stage, event)):
                self.cut_power(stage, event, release)

    def cut_power(self, stage, event, release):
        on_host("python3 -m test.hosts.rebooted remove")
        exit, out = on_host("python3 -m test.hosts.rebooted begin %s %s && sync" % (stage, event))
        self.assertEqual(exit, 0, out)
        down = hosts("reboot", NAME, "--hard")
        self.assertEqual(down.returncode, 0, down.stdout.decode())
        exit, out = on_host("python3 -m test.hosts.rebooted end")
        self.assertEqual(exit, 0, out)
        found = json.loads(out.strip().split("\n")[-1])
        unit = found.pop("unit")
        self.assertEqual(
            (unit["asWritten"], unit["needsReload"], unit["enabled"], unit["activeState"]),
            (True, False, True, "active"),
        )
        self.assertEqual(
            found.pop("activation"),
            "committed" if release == "r2" else "failed" if stage in ("save", "drain") else "rolled-back",
        )
        self.assertEqual(
            found,
            {
                "running": "running",
                "release": release,
                "current": release,
                "text": "Paris.",
                "units": ["sglang-s.service"],
                "link": "../../venvs/v/releases/" + release,
            },
        )


if __name__ == "__main__":
    unittest.main()

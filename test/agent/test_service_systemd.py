"""What only systemd has: units, drop-ins, masks, users, the journal. Run on a test host by test/hosts/test_service.py."""

import os
import pwd
import stat
import subprocess
import unittest

from agent.service import proc
from agent.service.preflight import may_raise
from test.agent.service_case import DIES, Case
from test.agent.service_host import KIND, eventually

UNIT = "/etc/systemd/system/sglang-s.service"


def systemctl(*words):
    return (
        subprocess.run(["systemctl", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.decode().strip()
    )


@unittest.skipUnless(KIND == "systemd", "run on a host with systemd")
class AUnitOnAHost(Case):
    def test_is_enabled_active_and_as_written(self):
        self.host.activate("r1")
        unit = self.host.look()["unit"]
        self.assertEqual(
            unit,
            {
                "name": "sglang-s.service",
                "path": UNIT,
                "exists": True,
                "asWritten": True,
                "needsReload": False,
                "linked": None,
                "masked": False,
                "dropIns": [],
                "enabled": True,
                "activeState": "active",
                "restarts": 0,
            },
        )
        self.assertEqual(systemctl("show", "-p", "NeedDaemonReload", "--value", "sglang-s"), "no")

    def test_that_was_edited_is_written_again_without_a_restart(self):
        pid = self.host.activate("r1")["pid"]
        with open(UNIT, "a") as file:
            file.write("# by hand\n")
        unit = self.host.look()["unit"]
        self.assertEqual((unit["asWritten"], unit["needsReload"]), (False, True))
        result = self.host.activate("r1")
        self.assertEqual((result["restarted"], result["pid"]), (False, pid))
        unit = self.host.look()["unit"]
        self.assertEqual((unit["asWritten"], unit["needsReload"]), (True, False))

    def test_with_a_drop_in_that_runs_something_else_shows_it_and_sets_it_aside(self):
        self.host.activate("r1")
        os.makedirs(UNIT + ".d")
        with open(UNIT + ".d/x.conf", "w") as file:
            file.write("[Service]\nExecStart=\nExecStart=/bin/sleep 1000\n")
        systemctl("daemon-reload")
        self.assertEqual(self.host.look()["unit"]["dropIns"], [UNIT + ".d/x.conf"])
        self.host.activate("r2")
        facts = self.host.look()
        self.assertEqual((facts["unit"]["dropIns"], facts["process"]["argsMatch"]), ([], True))
        self.assertEqual(os.listdir(self.host.place.replaced), ["x.conf"])

    def test_whose_drop_in_was_set_aside_has_it_again_after_a_way_back(self):
        self.host.activate("r1")
        os.makedirs(UNIT + ".d")
        with open(UNIT + ".d/x.conf", "w") as file:
            file.write("[Service]\nNice=1\n")
        systemctl("daemon-reload")
        self.host.release("r3", start=DIES)
        self.host.fails("r3", ready={"stable": 5})
        self.assertEqual(self.host.look()["unit"]["dropIns"], [UNIT + ".d/x.conf"])

    def test_that_is_masked_disabled_or_gone_is_put_right_without_a_restart(self):
        pid = self.host.activate("r1")["pid"]
        for harm in (["disable", "sglang-s"], ["mask", "--runtime", "sglang-s"]):
            systemctl(*harm)
            self.assertEqual((self.host.activate("r1")["restarted"], self.host.pid()), (False, pid))
            unit = self.host.look()["unit"]
            self.assertEqual((unit["enabled"], unit["masked"]), (True, False), harm)
        os.unlink(UNIT)
        systemctl("daemon-reload")
        self.assertFalse(self.host.look()["unit"]["exists"])
        self.host.activate("r1")
        self.assertTrue(self.host.look()["unit"]["asWritten"])

    def test_of_someone_else_is_not_taken(self):
        with open(UNIT, "w") as file:
            file.write("[Service]\nExecStart=/bin/true\n")
        self.addCleanup(os.unlink, UNIT)
        fault = self.host.fails("r1")
        self.assertEqual((fault.code, fault.more["where"]), ("unit-taken", UNIT))
        self.assertTrue(os.path.exists(UNIT))

    def test_counts_no_restarts_of_the_past(self):
        self.host.activate("r1")
        os.kill(self.host.pid(), 9)
        self.assertTrue(eventually(lambda: self.host.look()["unit"]["restarts"] == 1, 20))
        self.assertTrue(eventually(lambda: self.host.text() is not None, 20))
        self.host.activate("r2")
        self.assertEqual(self.host.look()["unit"]["restarts"], 0)

    def test_leaves_nothing_when_it_is_removed(self):
        self.host.activate("r1")
        self.host.remove()
        self.assertEqual([name for name in os.listdir("/etc/systemd/system") if name.startswith("sglang")], [])
        self.assertEqual(os.listdir("/etc/systemd/system/multi-user.target.wants").count("sglang-s.service"), 0)
        self.assertEqual(systemctl("show", "-p", "LoadState", "--value", "sglang-s"), "not-found")
        self.assertEqual(self.host.processes(), [])

    def test_can_give_way_to_a_keeper_and_back(self):
        self.host.activate("r1")
        self.host.activate("r1", spec={"supervisor": "process"})
        self.assertFalse(os.path.exists(UNIT))
        facts = self.host.look()
        self.assertEqual((facts["supervisor"], facts["running"], facts["unit"]), ("process", "running", None))
        self.host.activate("r1")
        facts = self.host.look()
        self.assertEqual(
            (facts["supervisor"], facts["running"], facts["unit"]["asWritten"]), ("systemd", "running", True)
        )

    def test_that_gives_way_comes_back_when_the_keeper_fails(self):
        self.host.activate("r1")
        self.host.release("r3", start=DIES)
        self.host.fails("r3", ready={"stable": 5}, spec={"supervisor": "process"})
        facts = self.host.look()
        self.assertEqual(
            (facts["supervisor"], facts["running"], facts["process"]["release"]), ("systemd", "running", "r1")
        )
        self.assertTrue(facts["unit"]["asWritten"])
        self.assertFalse(os.path.exists(self.host.place.keeper))


@unittest.skipUnless(KIND == "systemd", "run on a host with systemd")
class AUser(Case):
    def test_gets_its_home_and_only_it_reads_the_keys(self):
        entry = pwd.getpwnam("user-plain")
        result = self.host.activate("r1", spec={"user": "user-plain"}, secrets={"apiKey": "key-12345678"})
        environ = proc.environ(result["pid"])
        self.assertEqual((environ[b"HOME"], environ[b"USER"]), (entry.pw_dir.encode(), b"user-plain"))
        self.assertEqual(os.stat("/proc/%d" % result["pid"]).st_uid, entry.pw_uid)
        for path in (self.host.place.spec, proc.cmdline(result["pid"])[-1]):
            facts = os.stat(path)
            self.assertEqual((stat.S_IMODE(facts.st_mode), facts.st_uid), (0o600, entry.pw_uid))
        self.assertEqual(os.readlink("/proc/%d/cwd" % result["pid"]), self.host.place.work)
        self.assertEqual(self.host.look()["process"]["user"], "user-plain")

    def test_that_may_not_read_the_model_is_said_before_anything_is_stopped(self):
        pid = self.host.activate("r1")["pid"]
        os.chmod(self.host.model, 0o700)
        fault = self.host.fails("r1", spec={"user": "user-plain"})
        self.assertEqual((fault.code, fault.more["where"]), ("no-access", self.host.model))
        self.assertEqual(self.host.pid(), pid)

    def test_that_does_not_exist_is_said(self):
        self.assertEqual(self.host.fails("r1", spec={"user": "nobody-here"}).code, "no-user")

    def test_without_an_entry_has_no_home(self):
        pid = self.host.activate("r1", spec={"user": "4711", "group": "4711"})["pid"]
        self.assertEqual(sorted(proc.environ(pid)), [b"LANG", b"PATH"])


@unittest.skipUnless(KIND == "systemd", "run on a host with systemd")
class ALogFile(Case):
    def test_is_appended_to_and_private(self):
        log = os.path.join(self.host.top, "logs", "server.log")
        self.host.activate("r1", spec={"log": log})
        with open(log) as file:
            self.assertIn("fired up", file.read())
        self.assertEqual(stat.S_IMODE(os.stat(log).st_mode), 0o600)


@unittest.skipUnless(KIND == "systemd", "run on a host with systemd")
class LimitsUnderSystemd(Case):
    def test_land_in_the_process_whatever_the_shell_has(self):
        pid = self.host.activate("r1", spec={"limits": {"memlock": "65536", "nofile": "4096", "stack": "16777216"}})[
            "pid"
        ]
        with open("/proc/%d/limits" % pid) as file:
            text = file.read()
        self.assertRegex(text, r"Max locked memory +65536 +65536")
        self.assertRegex(text, r"Max open files +4096 +4096")
        self.assertRegex(text, r"Max stack size +16777216 +16777216")
        self.assertEqual(self.host.look()["process"]["limitsDiffer"], [])

    def test_that_the_host_does_not_allow_are_said_before_anything_is_stopped(self):
        if may_raise(1):
            self.skipTest("this host allows every limit")
        pid = self.host.activate("r1")["pid"]
        fault = self.host.fails("r1", spec={"limits": {"memlock": "infinity"}})
        self.assertEqual((fault.code, fault.more["where"], fault.more["expected"]), ("limit", "memlock", "infinity"))
        self.assertEqual(self.host.pid(), pid)


if __name__ == "__main__":
    unittest.main()

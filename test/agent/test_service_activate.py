import json
import os
import signal
import stat
import threading
import unittest

from agent.files import sha256_file
from agent.service import proc
from test.agent.service_case import Case
from test.agent.service_host import SITE, eventually, in_background


class AnActivation(Case):
    def test_starts_the_service_and_proves_it(self):
        self.gates.stop()
        result = self.host.activate("r1")
        self.assertEqual((result["release"], result["restarted"], result["pid"]), ("r1", True, self.host.pid()))
        facts = self.host.look()
        self.assertEqual(
            (facts["running"], facts["current"]["release"], facts["process"]["release"]), ("running", "r1", "r1")
        )
        self.assertEqual(
            (facts["process"]["argsMatch"], facts["process"]["envDiffers"], facts["process"]["newerFiles"]),
            (True, [], []),
        )
        self.assertEqual(facts["activation"]["state"], "committed")
        self.assertEqual(self.host.text(), "Paris.")

    def test_switches_and_ends_the_old_server(self):
        old = self.host.activate("r1")["pid"]
        self.host.activate("r2")
        self.assertFalse(proc.alive(old))
        self.assertEqual(self.host.look()["process"]["release"], "r2")
        self.assertEqual(os.readlink(self.host.place.link), "../../venvs/v/releases/r2")

    def test_of_what_runs_already_restarts_nothing(self):
        pid = self.host.activate("r1")["pid"]
        result = self.host.activate("r1")
        self.assertEqual((result["restarted"], result["pid"]), (False, pid))

    def test_of_another_wait_or_stop_time_restarts_nothing(self):
        pid = self.host.activate("r1")["pid"]
        result = self.host.activate("r1", ready={"timeout": 31}, spec={"stopTimeout": 11})
        self.assertEqual((result["restarted"], result["pid"]), (False, pid))
        self.assertEqual(self.host.look()["current"]["spec"]["stopTimeout"], 11)

    def test_of_a_server_that_was_killed_starts_it(self):
        self.host.activate("r1")
        self.host.supervisor().stop(5)
        self.assertEqual(self.host.look()["running"], "stopped")
        self.assertTrue(self.host.activate("r1")["restarted"])

    def test_leaves_no_secrets_of_the_job_behind(self):
        self.host.activate("r1", secrets={"apiKey": "key-12345678"})
        self.assertEqual(
            sorted(os.listdir(self.host.place.activation())), ["job.json", "journal.jsonl", "lock", "result.json"]
        )
        for name in os.listdir(self.host.place.activation()):
            with open(self.host.place.activation(name)) as file:
                self.assertNotIn("key-12345678", file.read())

    def test_hands_the_api_key_over_by_file(self):
        result = self.host.activate("r1", secrets={"apiKey": "key-12345678", "adminApiKey": "adm-12345678"})
        words = proc.cmdline(result["pid"])
        self.assertEqual(words[-2], "--config")
        self.assertEqual(stat.S_IMODE(os.stat(words[-1]).st_mode), 0o600)
        with open(words[-1]) as file:
            self.assertEqual(file.read(), 'api-key: "key-12345678"\nadmin-api-key: "adm-12345678"\n')
        self.assertNotIn("key-12345678", " ".join(words))
        facts = self.host.look()
        self.assertEqual(facts["process"]["args"], facts["current"]["spec"]["args"])
        self.assertNotIn("12345678", json.dumps(facts))

    def test_with_the_same_key_restarts_nothing_and_with_another_does(self):
        pid = self.host.activate("r1", secrets={"apiKey": "key-12345678"})["pid"]
        self.assertEqual(self.host.activate("r1", secrets={"apiKey": "key-12345678"})["pid"], pid)
        self.assertNotEqual(self.host.activate("r1", secrets={"apiKey": "key-87654321"})["pid"], pid)
        self.assertEqual(len([name for name in os.listdir(self.host.place.dir) if name.startswith("config-")]), 1)

    def test_puts_every_byte_of_the_environment_into_the_process(self):
        values = {
            "A": "k\\1$HOME\"q'#;",
            "B": "  lead and trail  ",
            "C": "=a=b",
            "D": "two\nlines",
            "E": "a\tb",
            "F": "é漢",
            "G": "",
            "H": "x" * 20000,
            "I": "%h %n",
            "J": "{site}|{{site}}",
            "K": "${X} $$ `id`",
        }
        self.host.variables("e2", values)
        pid = self.host.activate("r1", env="e2")["pid"]
        site = os.path.join(self.host.place.link, SITE)
        wanted = {name: value.encode() for name, value in dict(values, J=site + "|{site}").items()}
        found = proc.environ(pid)
        self.assertEqual({name: found[name.encode()] for name in values}, wanted)
        self.assertEqual(
            sorted(set(found) - {name.encode() for name in values}), [b"HOME", b"LANG", b"LOGNAME", b"PATH", b"USER"]
        )

    def test_sets_the_declared_limits_and_reads_them_back(self):
        pid = self.host.activate("r1", spec={"limits": {"nofile": 512, "core": "0"}})["pid"]
        with open("/proc/%d/limits" % pid) as file:
            self.assertRegex(file.read(), r"Max open files +512 +512")
        self.assertEqual(self.host.look()["process"]["limitsDiffer"], [])

    def test_waits_for_a_real_token_though_every_route_is_green(self):
        self.host.variables("e2", {"STANDIN_EARLY_GREEN": "1", "STANDIN_READY_AFTER": "2"})
        self.assertGreaterEqual(self.host.activate("r1", env="e2")["readyAfter"], 2)


class ASecondCall(Case):
    def start_slow(self):
        self.host.activate("r1")
        self.host.variables("e2", {"STANDIN_READY_AFTER": "2"})
        found = in_background(lambda: self.host.activate("r2", env="e2"))
        self.assertTrue(eventually(lambda: self.host.look()["activation"]["state"] == "running"))
        return found

    def test_with_the_same_wish_follows_the_first(self):
        thread, outcome = self.start_slow()
        second = self.host.activate("r2", env="e2")
        thread.join(30)
        self.assertEqual(second["pid"], outcome[0]["pid"])

    def test_whose_first_was_cancelled_too_late_follows_it_to_the_end(self):
        self.host.activate("r1")
        self.host.variables("e2", {"STANDIN_READY_AFTER": "3"})
        cancelled = threading.Event()
        thread, outcome = in_background(lambda: self.host.activate("r2", env="e2", cancelled=cancelled))
        self.assertTrue(eventually(lambda: (self.host.look()["activation"] or {}).get("stage") == "wait"))
        cancelled.set()
        thread.join(2)
        self.assertEqual((outcome[0].code, outcome[0].more["stage"]), ("goes-on", "wait"))
        self.assertEqual(self.host.look()["activation"]["state"], "running")
        self.assertEqual(self.host.activate("r2", env="e2")["release"], "r2")

    def test_with_another_wish_is_refused(self):
        thread, outcome = self.start_slow()
        fault = self.host.fails("r1", env="e2")
        self.assertEqual((fault.code, fault.more["found"]), ("busy", "release r2"))
        thread.join(30)
        self.assertEqual(outcome[0]["release"], "r2")


class ALook(Case):
    def test_sees_a_patched_file_that_was_altered_or_exchanged_under_the_process(self):
        site = os.path.join(self.host.layout.release("v", "r1"), SITE)
        path = os.path.join(site, "sglang/srt/answer.py")
        patched = [{"module": "sglang.srt.answer", "path": None, "sha256": sha256_file(path)}]
        pid = self.host.activate("r1", gates={"patched": patched})["pid"]
        with open(path, "rb") as file:
            data = file.read()
        with open(path + ".new", "wb") as file:
            file.write(data)
        os.replace(path + ".new", path)
        self.assertEqual(self.host.look()["process"]["newerFiles"], ["sglang/srt/answer.py"])
        result = self.host.activate("r1", gates={"patched": patched})
        self.assertEqual((result["restarted"], result["pid"] == pid), (True, False))

    def test_names_variables_and_arguments_that_differ(self):
        self.host.activate("r1")
        with open(self.host.place.spec) as file:
            spec = json.load(file)
        spec["environ"].update(LANG="de_DE.UTF-8", NEW="1")
        spec["argv"] += ["--tp-size", "1"]
        with open(self.host.place.spec, "w") as file:
            json.dump(spec, file)
        pid = self.host.pid()
        os.kill(pid, signal.SIGKILL)
        self.assertTrue(eventually(lambda: self.host.pid() not in (None, pid) and self.host.text() is not None))
        facts = self.host.look()["process"]
        self.assertEqual((facts["envDiffers"], facts["argsMatch"]), (["LANG", "NEW"], False))

    def test_says_how_a_failing_server_stands(self):
        self.host.activate("r1")
        os.kill(self.host.pid(), signal.SIGKILL)
        self.assertTrue(
            eventually(lambda: "was ended by signal 9, and is started again" in self.host.look()["running"])
        )
        self.assertTrue(eventually(lambda: self.host.look()["running"] == "running"))


if __name__ == "__main__":
    unittest.main()

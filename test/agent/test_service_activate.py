import json
import os
import signal
import socket
import stat
import subprocess
import threading
import unittest
import unittest.mock

from agent.claims import claims
from agent.service import proc
from test.agent.service_host import KIND, SITE, ServiceHost, eventually, in_background, sha256

DIES = "import os; os.environ['STANDIN_DIE_AFTER'] = '1'"
NEVER = "import os; os.environ['STANDIN_NEVER_READY'] = '1'"


class Case(unittest.TestCase):
    def setUp(self):
        self.host = ServiceHost()
        self.addCleanup(self.host.close)
        # What the gates do is tested elsewhere; they take half of the time here.
        self.gates = unittest.mock.patch("agent.service.activate.gates")
        self.gates.start()
        self.addCleanup(unittest.mock.patch.stopall)


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


class AFailedActivation(Case):
    def test_that_never_gets_ready_puts_the_old_release_back(self):
        self.host.activate("r1")
        self.host.release("r3", start=NEVER)
        fault = self.host.fails("r3", ready={"timeout": 2})
        self.assertEqual(
            (fault.code, fault.more["stage"], fault.more["restored"]),
            ("not-ready", "wait", "release r1 runs again and answers"),
        )
        self.assertIn("within 2 s", fault.message)
        self.assertIn("Load weight begin", fault.more["detail"])
        self.old_runs()

    def old_runs(self):
        facts = self.host.look()
        self.assertEqual(
            (facts["running"], facts["current"]["release"], facts["process"]["release"]), ("running", "r1", "r1")
        )
        self.assertEqual(facts["activation"]["state"], "rolled-back")
        self.assertEqual(self.host.text(), "Paris.")

    def test_that_dies_within_the_stable_window_puts_the_old_release_back(self):
        self.host.activate("r1")
        self.host.release("r3", start=DIES)
        fault = self.host.fails("r3", ready={"stable": 5})
        self.assertEqual((fault.code, fault.more["stage"]), ("exited", "stable"))
        self.assertRegex(fault.message, r"^the server exited 1 after \d+\.\d s \(it was ready\)$")
        self.old_runs()

    def test_whose_process_exits_at_once_says_how_with_the_log(self):
        self.host.activate("r1")
        self.host.release("r3", start="import sys; print('no such device', file=sys.stderr); sys.exit(3)")
        fault = self.host.fails("r3", gates={"flags": False})
        self.assertEqual((fault.code, fault.more["stage"], fault.more["found"]), ("exited", "wait", "exited 3"))
        self.assertIn("no such device", fault.more["detail"])
        self.old_runs()

    def test_that_was_the_first_leaves_nothing(self):
        self.host.release("r3", start=NEVER)
        fault = self.host.fails("r3", ready={"timeout": 1})
        self.assertEqual(fault.more["restored"], "there was no service before: what was made for it was removed again")
        self.assertCountEqual(os.listdir(self.host.place.dir), ["env.json", "env-e1.json"])
        self.assertEqual(claims(self.host.layout), {})
        self.assertEqual(self.host.processes(), [])

    def test_at_the_gates_leaves_the_old_process_alone(self):
        self.gates.stop()
        pid = self.host.activate("r1")["pid"]
        self.host.release("r3", patch="import no_such_module\n")
        fault = self.host.fails("r3", secrets={"apiKey": "key-12345678"})
        self.assertEqual((fault.code, fault.more["gate"]), ("gate", "imports"))
        self.assertEqual(self.host.pid(), pid)
        self.assertFalse([name for name in os.listdir(self.host.place.dir) if name.startswith("config-")])

    def test_hides_secrets_in_what_it_shows_of_the_log(self):
        self.host.activate("r1")
        self.host.variables("e2", {"HF_TOKEN": "hf_abcdefghijk", "STANDIN_EXIT_AT_START": "1"})
        self.host.release("r3", start="import os, sys; print(os.environ['HF_TOKEN'], 'key-12345678', file=sys.stderr)")
        fault = self.host.fails("r3", env="e2", secrets={"apiKey": "key-12345678"})
        self.assertIn("*** ***", fault.more["detail"])
        self.assertNotRegex(json.dumps(fault.report()), "hf_abcdefghijk|key-12345678")
        self.old_runs()


class APort(Case):
    def test_of_a_foreign_process_is_named_and_nothing_is_stopped(self):
        pid = self.host.activate("r1")["pid"]
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))
            held.listen(1)
            port = held.getsockname()[1]
            fault = self.host.fails(
                "r1", spec={"port": port, "args": ["--model-path", self.host.model, "--port", str(port)]}
            )
        self.assertEqual(fault.code, "port-taken")
        self.assertIn("port %d is taken by pid %d (user " % (port, os.getpid()), fault.message)
        self.assertEqual(self.host.pid(), pid)

    def test_and_a_missing_model_are_said_together(self):
        with socket.socket() as held:
            held.bind(("127.0.0.1", self.host.port))
            held.listen(1)
            fault = self.host.fails("r1", spec={"modelPath": "/no/such/model"})
        self.assertEqual(fault.code, "preflight")
        self.assertIn("port %d is taken" % self.host.port, fault.message)
        self.assertIn("there is no model /no/such/model on this host", fault.message)


class AStop(Case):
    def test_ends_children_that_left_the_group_and_ignore_signals_and_no_foreign_process(self):
        lock = os.path.join(self.host.top, "gpu")
        self.host.variables("e2", {"STANDIN_SETSID_CHILDREN": "1", "STANDIN_GPU_LOCK": lock})
        self.host.activate("r1", env="e2")
        members = self.host.supervisor().members()
        foreign = subprocess.Popen(["bash", "-c", "exec -a sglang::scheduler sleep 60"])
        self.addCleanup(foreign.wait)
        self.addCleanup(foreign.kill)
        self.assertGreaterEqual(len(members), 3)
        self.host.activate("r2", env="e2")
        self.assertEqual([pid for pid in members if proc.alive(pid)], [])
        self.assertIsNone(foreign.poll())
        self.assertEqual(self.host.look()["process"]["release"], "r2")

    def test_after_the_server_was_killed_finds_its_orphans(self):
        lock = os.path.join(self.host.top, "gpu")
        self.host.variables("e2", {"STANDIN_SETSID_CHILDREN": "1", "STANDIN_GPU_LOCK": lock})
        pid = self.host.activate("r1", env="e2")["pid"]
        os.kill(pid, signal.SIGKILL)
        self.assertTrue(eventually(lambda: self.host.pid() not in (None, pid)))
        self.host.activate("r2", env="e2")
        self.assertEqual(self.host.look()["process"]["release"], "r2")

    @unittest.skipUnless(KIND == "process", "systemd has no keeper")
    def test_without_its_keeper_finds_what_is_ours(self):
        self.host.variables("e2", {"STANDIN_SETSID_CHILDREN": "1"})
        self.host.activate("r1", env="e2")
        supervisor = self.host.supervisor()
        members = supervisor.members()
        os.kill(supervisor.said()["keeper"][0], signal.SIGKILL)
        self.assertTrue(eventually(lambda: self.host.look()["running"].startswith("runs, but its keeper is gone")))
        self.assertTrue(self.host.activate("r1", env="e2")["restarted"])
        self.assertEqual([pid for pid in members if proc.alive(pid)], [])

    def test_that_takes_too_long_ends_by_force(self):
        self.host.variables("e2", {"STANDIN_IGNORE_TERM": "1"})
        pid = self.host.activate("r1", env="e2", spec={"stopTimeout": 1})["pid"]
        self.host.activate("r2", env="e2", spec={"stopTimeout": 1})
        self.assertFalse(proc.alive(pid))


class ADrain(Case):
    def hook(self, name, code=""):
        return ["sh", "-c", "echo %s >> %s; %s" % (name, self.log(), code)]

    def log(self):
        return os.path.join(self.host.top, "hooks")

    def said(self):
        with open(self.log()) as file:
            return file.read().split()

    def test_is_run_before_the_stop_and_not_undone_after_success(self):
        self.host.activate("r1")
        self.host.activate("r2", drain={"argv": self.hook("drain"), "undo": self.hook("undo"), "timeout": 5})
        self.assertEqual(self.said(), ["drain"])

    def test_that_fails_is_undone_and_nothing_is_stopped(self):
        pid = self.host.activate("r1")["pid"]
        drain = {"argv": self.hook("drain", "echo busy; exit 4"), "undo": self.hook("undo"), "timeout": 5}
        fault = self.host.fails("r2", drain=drain)
        self.assertEqual((fault.code, fault.more["stage"], fault.more["detail"]), ("hook-failed", "drain", "busy"))
        self.assertEqual(fault.more["restored"], "nothing was stopped: what ran before still runs")
        self.assertEqual(self.said(), ["drain", "undo"])
        self.assertEqual(self.host.pid(), pid)

    def test_that_does_not_end_is_ended(self):
        self.host.activate("r1")
        fault = self.host.fails("r2", drain={"argv": ["sleep", "60"], "undo": self.hook("undo"), "timeout": 0.5})
        self.assertIn("did not end within 0.5 s", fault.message)
        self.assertEqual(self.said(), ["undo"])

    def test_is_undone_after_a_way_back(self):
        self.host.activate("r1")
        self.host.release("r3", start=NEVER)
        self.host.fails(
            "r3", ready={"timeout": 1}, drain={"argv": self.hook("drain"), "undo": self.hook("undo"), "timeout": 5}
        )
        self.assertEqual(self.said(), ["drain", "undo"])

    def test_is_ended_and_undone_by_a_cancel(self):
        pid = self.host.activate("r1")["pid"]
        cancelled = threading.Event()
        drain = {"argv": self.hook("drain", "sleep 60"), "undo": self.hook("undo"), "timeout": 60}
        thread, outcome = in_background(lambda: self.host.activate("r2", cancelled=cancelled, drain=drain))
        self.assertTrue(eventually(lambda: os.path.exists(self.log())))
        cancelled.set()
        thread.join(20)
        self.assertEqual((outcome[0].code, outcome[0].more["stage"]), ("cancelled", "drain"))
        self.assertEqual(self.said(), ["drain", "undo"])
        self.assertEqual(self.host.pid(), pid)


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


class ARemoval(Case):
    def test_leaves_nothing_and_can_be_done_again(self):
        self.host.variables("e2", {"STANDIN_SETSID_CHILDREN": "1"})
        self.host.activate("r1", env="e2", secrets={"apiKey": "key-12345678"})
        self.host.remove()
        self.assertCountEqual(os.listdir(self.host.place.dir), ["env.json", "env-e2.json"])
        self.assertEqual(self.host.processes(), [])
        self.host.remove()

    def test_by_another_owner_removes_nothing(self):
        pid = self.host.activate("r1")["pid"]
        self.host.owner = "owner-2"
        self.host.remove()
        self.assertEqual(self.host.pid(), pid)


class ALook(Case):
    def test_sees_a_patched_file_that_was_altered_or_exchanged_under_the_process(self):
        site = os.path.join(self.host.layout.release("v", "r1"), SITE)
        path = os.path.join(site, "sglang/srt/answer.py")
        patched = [{"module": "sglang.srt.answer", "path": None, "sha256": sha256(path)}]
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
        spec["argv"].append("--other")
        with open(self.host.place.spec, "w") as file:
            json.dump(spec, file)
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

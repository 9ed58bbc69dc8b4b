"""Each stage of an activation, cut by SIGKILL: of what does it, and of what would do it again."""

import os
import unittest
import unittest.mock

from agent.service.decision import BACK, FORWARD
from test.agent.service_host import KIND, ServiceHost, eventually, in_background

NEVER = "import os; os.environ['STANDIN_NEVER_READY'] = '1'"
DRAIN = {
    "argv": ["sh", "-c", "echo drain >> $0", "{log}"],
    "undo": ["sh", "-c", "echo undo >> $0", "{log}"],
    "timeout": 5,
}

#: Where the way forward ends when its process is killed at the begin or just before the end of a stage.
OLD, NEW = "r1", "r2"
AFTER_CUT = {
    "preflight": OLD,
    "save": OLD,
    "drain": OLD,
    "stop": OLD,
    "switch": OLD,
    "start": OLD,
    "wait": NEW,
    "stable": NEW,
    "prove": NEW,
    "commit": NEW,
}


#: Everywhere only a part is cut; on a host with systemd, all.
ALL = KIND == "systemd"


class Case(unittest.TestCase):
    def setUp(self):
        self.host = ServiceHost()
        self.addCleanup(self.host.close)
        # What the gates do is tested elsewhere.
        patch = unittest.mock.patch("agent.service.activate.gates")
        patch.start()
        self.addCleanup(patch.stop)
        self.log = os.path.join(self.host.top, "hooks")
        self.drain = {
            name: [word.format(log=self.log) for word in argv] if name != "timeout" else argv
            for name, argv in DRAIN.items()
        }

    def serves(self, release):
        """The one or the other, and nothing between: files, process, answer, and nothing of ours left over."""
        facts = self.host.look()
        self.assertEqual(
            (facts["running"], facts["current"]["release"], facts["process"] and facts["process"]["release"]),
            ("running", release, release),
        )
        self.assertEqual((facts["process"]["argsMatch"], facts["process"]["envDiffers"]), (True, []))
        self.assertEqual(os.readlink(self.host.place.link), "../../venvs/v/releases/" + release)
        self.assertEqual(self.host.text(), "Paris.")
        self.assertEqual(
            sorted(os.listdir(self.host.place.activation())), ["job.json", "journal.jsonl", "lock", "result.json"]
        )

    def hooks(self):
        """The hooks that were run since this was last asked."""
        if not os.path.exists(self.log):
            return []
        with open(self.log) as file:
            said = file.read().split()
        os.unlink(self.log)
        return said


class TheWayForward(Case):
    def test_cut_at_the_begin_of_each_stage_ends_old_or_new(self):
        self.cut_each("begin")

    @unittest.skipUnless(ALL, "run on a host with systemd")
    def test_cut_just_before_the_end_of_each_stage_ends_old_or_new(self):
        self.cut_each("end")

    def cut_each(self, event):
        old, new = "r1", "r2"
        self.host.activate(old)
        for stage in FORWARD:
            with self.subTest(stage):
                self.cut_once(stage, event, old, new)
                if AFTER_CUT[stage] == NEW:
                    old, new = new, old

    def cut_once(self, stage, event, old, new):
        with self.host.cut(stage, event, before=True):
            if AFTER_CUT[stage] == NEW:
                self.assertEqual(self.host.activate(new, drain=self.drain)["release"], new)
            else:
                fault = self.host.fails(new, drain=self.drain)
                self.assertEqual((fault.code, fault.more["stage"]), ("interrupted", stage))
        self.serves(new if AFTER_CUT[stage] == NEW else old)
        drained = (
            ["drain"] if FORWARD.index(stage) > FORWARD.index("drain") or (stage, event) == ("drain", "end") else []
        )
        undone = ["undo"] if AFTER_CUT[stage] == OLD and FORWARD.index(stage) >= FORWARD.index("drain") else []
        self.assertEqual(self.hooks(), drained + undone)


class TheWayBack(Case):
    def test_cut_in_each_stage_ends_old(self):
        self.host.activate("r1")
        self.host.release("r3", start=NEVER)
        # A server that somebody started is brought back in a stage of its own: see test_service_found.
        for stage in [stage for stage in BACK if stage != "back-found"]:
            for event in ("begin", "end") if ALL else ("begin",):
                with self.subTest(stage + " " + event):
                    with self.host.cut(stage, event, before=True):
                        fault = self.host.fails("r3", ready={"timeout": 1}, drain=self.drain)
                    self.assertEqual(
                        (fault.code, fault.more["restored"]), ("not-ready", "release r1 runs again and answers")
                    )
                    self.serves("r1")
                    self.assertEqual(set(self.hooks()), {"drain", "undo"})


class WithItsWatcher(Case):
    def test_cut_in_each_stage_it_is_taken_up_by_who_follows(self):
        old, new = "r1", "r2"
        self.host.activate(old)
        for stage in (
            ("preflight", "drain", "stop", "switch", "start", "wait", "commit")
            if ALL
            else ("drain", "switch", "commit")
        ):
            with self.subTest(stage):
                with self.host.cut(stage, watcher=True):
                    thread, _ = in_background(lambda release=new: self.host.activate(release))
                    thread.join(90)
                self.serves(new if AFTER_CUT[stage] == NEW else old)
                if AFTER_CUT[stage] == NEW:
                    old, new = new, old

    def test_and_its_follower_the_next_activation_ends_it_first(self):
        old, new = "r1", "r2"
        self.host.activate(old)
        for stage in ("stop", "switch", "start", "wait") if ALL else ("switch", "wait"):
            with self.subTest(stage):
                with self.host.cut(stage, watcher=True) as mark:
                    self.abandoned(new, mark)
                self.assertTrue(eventually(lambda: self.host.look()["activation"]["state"] == "interrupted", 20))
                self.assertEqual(self.host.activate(new)["release"], new)
                self.serves(new)
                old, new = new, old

    def abandoned(self, release, mark):
        """An activation whose caller dies as soon as it was cut."""
        pid = os.fork()
        if pid == 0:
            in_background(lambda: self.host.activate(release))
            eventually(lambda: os.path.exists(mark), 30)
            os._exit(0)
        os.waitpid(pid, 0)


class AFirstActivation(Case):
    def test_cut_after_the_stop_leaves_nothing(self):
        for stage in ("stop", "switch", "start") if ALL else ("start",):
            with self.subTest(stage):
                self.doCleanups()
                self.setUp()
                with self.host.cut(stage, "end", before=True):
                    fault = self.host.fails("r1")
                self.assertEqual(fault.code, "interrupted")
                self.assertCountEqual(os.listdir(self.host.place.dir), ["env.json", "env-e1.json"])
                self.assertEqual(self.host.processes(), [])


if __name__ == "__main__":
    unittest.main()

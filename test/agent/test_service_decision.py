import unittest

from agent.service.decision import Decision, cause_of, decide


def journal(*events, boot="b1"):
    """Lines from `stage:event` words; a stage alone is its begin and its end."""
    lines = []
    for word in events:
        stage, _, event = word.partition(":")
        for name in [event] if event else ["begin", "end"]:
            lines.append({"stage": stage, "event": name, "boot": boot, "fault": {"code": "x", "message": stage}})
    return lines


BEFORE_STOP = ["preflight", "save", "drain"]
STARTED = BEFORE_STOP + ["stop", "switch", "start"]


class ACutActivation(unittest.TestCase):
    def check(self, lines, action, stage, drained=False, restored=False, boot="b1"):
        self.assertEqual(decide(lines, boot), Decision(action, stage, drained, restored))

    def test_that_has_not_begun_runs(self):
        self.check([], "run", None)

    def test_before_the_stop_leaves_the_old_process_alone(self):
        self.check(journal("preflight:begin"), "abort", "preflight")
        self.check(journal("preflight", "save:begin"), "abort", "save")
        self.check(journal("preflight", "save"), "abort", "save")
        self.check(journal("preflight", "save", "drain:begin"), "abort", "drain", drained=True)
        self.check(journal(*BEFORE_STOP), "abort", "drain", drained=True)

    def test_from_the_stop_to_the_start_goes_back(self):
        for stages in (
            ["stop:begin"],
            ["stop"],
            ["stop", "switch:begin"],
            ["stop", "switch"],
            ["stop", "switch", "start:begin"],
        ):
            self.check(journal(*(BEFORE_STOP + stages)), "roll-back", stages[-1].split(":")[0], drained=True)

    def test_after_the_start_goes_on_waiting_on_the_same_boot(self):
        for stages in (
            [],
            ["wait:begin"],
            ["wait", "stable:begin"],
            ["wait", "stable", "prove:begin"],
            ["wait", "stable", "prove"],
        ):
            stage = (stages or ["start"])[-1].split(":")[0]
            self.check(journal(*(STARTED + stages)), "wait", stage, drained=True)

    def test_after_the_start_goes_back_on_another_boot(self):
        self.check(journal(*(STARTED + ["wait:begin"])), "roll-back", "wait", drained=True, boot="b2")

    def test_that_was_cut_three_times_after_the_start_goes_back(self):
        lines = journal(
            *(
                STARTED
                + ["wait:begin", "wait:resume", "wait:begin", "wait:resume", "wait:begin", "wait:resume", "wait:begin"]
            )
        )
        self.check(lines, "roll-back", "wait", drained=True)

    def test_that_was_proven_is_finished_even_on_another_boot(self):
        lines = journal(*(STARTED + ["wait", "stable", "prove", "commit:begin"]))
        self.check(lines, "finish", "commit", drained=True)
        self.check(lines, "finish", "commit", drained=True, boot="b2")

    def test_that_failed_goes_back(self):
        lines = journal(*(STARTED + ["wait:begin", "wait:failed"]))
        self.check(lines, "roll-back", "wait", drained=True)
        self.check(
            journal(*(STARTED + ["wait", "stable", "prove", "commit:begin", "commit:failed"])),
            "roll-back",
            "commit",
            drained=True,
        )

    def test_that_failed_before_the_stop_leaves_the_old_process_alone(self):
        self.check(journal("preflight", "save", "drain:begin", "drain:failed"), "abort", "drain", drained=True)

    def test_on_its_way_back_goes_back(self):
        failed = STARTED + ["wait:begin", "wait:failed"]
        self.check(journal(*(failed + ["back-stop:begin"])), "roll-back", "back-stop", drained=True)
        self.check(journal(*(failed + ["back-stop", "back-restore:begin"])), "roll-back", "back-restore", drained=True)

    def test_whose_old_files_are_back_only_starts_the_old_process(self):
        lines = journal(*(STARTED + ["wait:begin", "wait:failed", "back-stop", "back-restore", "back-start:begin"]))
        self.check(lines, "roll-back", "back-start", drained=True, restored=True)

    def test_that_has_its_result_is_left(self):
        self.check(journal("preflight:begin", "preflight:failed", "result:end"), "nothing", "preflight")


class TheCause(unittest.TestCase):
    def test_is_the_first_failure_of_the_way_forward(self):
        lines = journal("wait:failed", "back-wait:failed")
        self.assertEqual(cause_of(lines), {"code": "x", "message": "wait"})

    def test_is_unknown_when_it_was_cut(self):
        self.assertIsNone(cause_of(journal("wait:begin", "back-wait:failed")))


if __name__ == "__main__":
    unittest.main()

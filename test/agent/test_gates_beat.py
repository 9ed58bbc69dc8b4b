import threading
import unittest

from agent.gates.beat import Beat


class BeatTest(unittest.TestCase):
    def test_what_takes_long_is_said_again_with_its_age_and_nothing_after_its_end(self):
        said, third = [], threading.Event()

        def say(text):
            said.append(text)
            if len(said) == 3:
                third.set()

        with Beat(say, every=1) as beat:
            beat.at("gate libraries")
            beat.at("gate imports: sglang")
            self.assertTrue(third.wait(20))
        self.assertEqual(said, ["gate libraries", "gate imports: sglang", "gate imports: sglang, 1 s"])
        self.assertFalse(beat.thread.is_alive())

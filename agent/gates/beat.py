"""Says again, while something takes long, what is at work and for how long: silence for minutes looks like a hang."""

import threading
import time

SECONDS = 10


class Beat:
    """`with Beat(say) as beat`: each `beat.at(text)` is said at once, and again every ten seconds with its age, as `text, 20 s`."""

    def __init__(self, say, every=SECONDS):
        self.say = say
        self.every = every
        self.text = None
        self.since = time.monotonic()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._repeat, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def at(self, text):
        self.text, self.since = text, time.monotonic()
        self.say(text)

    def _repeat(self):
        while not self.ended.wait(self.every):
            text, seconds = self.text, time.monotonic() - self.since
            if text is not None and seconds >= self.every / 2:
                self.say("%s, %.0f s" % (text, seconds))

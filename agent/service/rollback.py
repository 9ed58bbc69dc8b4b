"""The way back: the old files, the old process, and the proof that it serves."""

import os

from agent.files import remove_file
from agent.service.hook import run_hook
from agent.service.proof import prove
from agent.service.readiness import Readiness
from agent.service.supervisors import supervisor


class Rollback:
    """Takes an activation back. Each step can be done again: a cut way back begins anew."""

    def __init__(self, activation):
        self.activation = activation
        self.place = activation.place
        self.previous = activation.previous
        self.problems = []

    def leave(self, what):
        """Nothing was stopped: only a drain is undone. Returns what to say."""
        if what.drained:
            self.step("back-undo", self.undo)
        before = os.path.exists(self.place.spec) or self.activation.found.facts() is not None
        return self.sentence("nothing was stopped: what ran before still runs" if before else "nothing was begun")

    def run(self, what):
        """(what was restored, whether all of it was)."""
        if not what.restored:
            self.step("back-stop", self.stop)
            if not self.step("back-restore", self.restore):
                return self.sentence("the files of before could not be put back"), False
        said, whole = self.own(self.previous.facts())
        if self.activation.found.facts() is not None:
            again = self.step("back-found", self.bring_back)
            said += "; the server that was found there %s" % ("runs again and answers" if again else "does not answer")
            whole = whole and again
        if what.drained and whole:
            self.step("back-undo", self.undo)
        return self.sentence(said), whole and not self.problems

    def own(self, saved):
        """(what became of the service's own process of before, whether it is as it was)."""
        if saved["supervisor"] is None:
            return "there was no service before: what was made for it was removed again", True
        if not saved["running"]:
            return "the files of before are back; the server did not run before, and does not now", True
        release = self.previous.spec()["release"]
        if not (
            self.step("back-start", self.start)
            and self.step("back-wait", self.wait)
            and self.step("back-prove", self.prove)
        ):
            return "release %s is back in place but does not serve" % release, False
        return "release %s runs again and answers" % release, True

    def step(self, stage, act):
        """Whether a step succeeded; what went wrong is kept for the sentence."""
        fault = self.activation.attempt(stage, act)
        if fault is not None:
            self.problems.append("%s (%s)" % (fault["message"], stage))
        return fault is None

    def sentence(self, text):
        return "; ".join([text] + self.problems)

    def stop(self):
        self.activation.say("takes it back: stops the new server")
        new = self.activation.supervisor
        new.stop(min(self.activation.spec["stopTimeout"], 15))
        before = self.previous.facts()["supervisor"]
        if before not in (None, new.kind):
            supervisor(self.place, before).stop(self.previous.spec()["stopTimeout"])

    def restore(self):
        restore(self.place, self.previous, self.activation.spec)

    def start(self):
        spec, keeper = self.old()
        self.mark = keeper.log(spec).mark()
        self.activation.say("starts the old server again")
        keeper.start()

    def wait(self):
        spec, keeper = self.old()
        wanted = dict((self.previous.current() or {}).get("ready") or self.activation.job["ready"])
        readiness = Readiness(spec, wanted, keeper, self.mark, self.activation.say)
        self.state = readiness.wait()

    def prove(self):
        prove(self.place, self.old()[0], self.state, (self.previous.current() or {}).get("patched") or [])

    def bring_back(self):
        spec = self.activation.spec
        self.activation.found.start(spec, self.activation.job["ready"].get("timeout", 1200), self.activation.say)

    def undo(self):
        drain = self.activation.job["drain"]
        if drain and drain.get("undo"):
            self.activation.say("undoes the drain: %s" % drain["undo"][0])
            run_hook("drain undo", drain["undo"], drain.get("timeout", 60), self.place.dir, lambda: None)

    def old(self):
        spec = self.previous.spec()
        return spec, supervisor(self.place, spec["supervisor"])


def restore(place, previous, spec):
    """Puts the files of before back, and takes away what the new service had besides."""
    saved = previous.facts()
    if saved["supervisor"] != spec["supervisor"]:
        supervisor(place, spec["supervisor"]).uninstall()
    previous.restore()
    if saved["supervisor"] is None:
        for path in (place.spec, place.link, place.launcher, place.keeper):
            remove_file(path)

"""What the agent reports when something is wrong: a sentence for a person, and fields for the caller."""


class Fault(Exception):
    """An expected failure. `code` is stable and for programs; the rest is for people.

    where: the path or the thing on the host; found, expected: what was there and what was wanted;
    remedy: what to do about it, if that is known; detail: more lines (a log tail, a diff);
    gate, stage: of which gate or activation stage it is the result; restored: what was put back.
    """

    def __init__(self, code, message, **more):
        super().__init__(message)
        self.code = code
        self.message = message
        self.more = {key: value for key, value in more.items() if value is not None}

    def report(self):
        """The fault as it travels in a reply."""
        return dict(self.more, code=self.code, message=self.message)

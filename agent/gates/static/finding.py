"""One thing that a static gate found, and whether it is the layers' doing."""


class Finding:
    """key: (kind, file, what): the same in the base means that it was so before; severe: whether it stops the candidate.

    by: the file that wants something; text: one sentence; names: symbols that a sentence sums up.
    """

    def __init__(self, key, by, text, severe, names=()):
        self.key, self.by, self.text, self.severe, self.names = key, by, text, severe, names

    def marks(self):
        """Its key, or one for each symbol."""
        return [self.key[:2] + (name,) for name in self.names] or [self.key]


def result(gate, findings, seconds, note=""):
    """What a gate reports: {gate, ok, seconds, note, problems: [{text}], warnings}."""
    problems = list(dict.fromkeys(one.text for one in findings if one.severe))
    return {
        "gate": gate,
        "ok": not problems,
        "seconds": round(seconds, 3),
        "note": note,
        "problems": [{"text": text} for text in problems],
        "warnings": list(dict.fromkeys(one.text for one in findings if not one.severe)),
    }

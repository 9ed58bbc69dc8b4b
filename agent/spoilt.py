"""What a look cannot read: told of each thing by itself, so that one spoilt file hides nothing but what it is about."""

from agent.fault import Fault


class Spoilt:
    """faults: "<kind>/<name>" as in claims => the report of the Fault that reading it met."""

    def __init__(self):
        self.faults = {}

    def each(self, kind, names, read):
        """{name: read(name)} of those that are there (not None) and can be read; a Fault of the others is noted."""
        found = {}
        for name in names:
            try:
                facts = read(name)
            except Fault as fault:
                self.faults["%s/%s" % (kind, name)] = fault.report()
                continue
            if facts is not None:
                found[name] = facts
        return found

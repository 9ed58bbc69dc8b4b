"""`donor.look`: which distributions of a venv are meant, and what they are made of. Reads only; nothing is written, not even a cache."""

import re

from agent.counted import counted
from agent.donor import listing
from agent.donor.belongings import Donor
from agent.donor.choice import choose
from agent.fault import Fault
from agent.overlay import fit
from agent.venv import interpreter, sums
from agent.venv.copying import Meter


def look(request):
    """`args["venv"]`, `args["packages"]`: names and patterns; `args["known"]`: {name: {stamp: digest}} of what was hashed before.

    Returns {python, packages: [{name, version, stamp, digest, files, bytes, tags, notes, listing}]}. The listings of what had to be hashed
    go before it as the body; `listing` is the size of each one, 0 when its digest was known.
    """
    prefix, known = request.args["venv"], request.args.get("known") or {}
    interpreter.require_venv(prefix)
    donor = Donor(prefix)
    chosen = choose(donor, request.args["packages"])
    found = [_Found(donor, dist, known.get(dist.name) or {}) for dist in chosen]
    unknown = [one for one in found if one.digest is None]
    meter = Meter("hashing on the donor", sum(one.belongings.size for one in unknown), request.progress, request.check)
    for one in unknown:
        request.reply(one.hash(meter))
    return {"python": interpreter.facts(prefix), "packages": [one.report() for one in found]}


class _Found:
    def __init__(self, donor, dist, known):
        self._donor = donor
        self._dist = dist
        self._listing = 0
        self.belongings = donor.belongings(dist)
        self._stamp = self.belongings.stamp()
        self.digest = known.get(self._stamp)

    def hash(self, meter):
        """The listing. What is changed while it is read is read once more, and then refused."""
        for _attempt in range(2):
            hashes = sums.hashes("/", list(self.belongings.places.values()), meter.add, meter.check)
            again = self._donor.belongings(self._dist)
            if again.stamp() == self._stamp:
                text = listing.text(self._dist.name, self._dist.version, self.belongings.entries(hashes))
                self.digest, self._listing = listing.digest(text), len(text)
                return text
            self.belongings, self._stamp = again, again.stamp()
        raise Fault(
            "donor-changes",
            "%s is being changed on the donor" % self._dist,
            where=self._donor.prefix,
            remedy="wait until what installs there has ended, then run the command again",
        )

    def report(self):
        belongings = self.belongings
        return {
            "name": self._dist.name,
            "version": self._dist.version,
            "stamp": self._stamp,
            "digest": self.digest,
            "files": len(belongings.places) + len(belongings.links),
            "bytes": belongings.size,
            "tags": fit.tags(self._donor.site, [self._dist], belongings.places),
            "notes": list(self._notes()),
            "listing": self._listing,
        }

    def _notes(self):
        outside, gone = (
            self.belongings.outside,
            [place for place in self.belongings.gone if not re.match("bin/|data/", place)],
        )
        if self.belongings.unrecorded:
            yield "no RECORD on the donor: what its top_level.txt names is taken, and no scripts"
        if outside:
            yield "%s out of the venv, %s the first: not taken" % (counted(len(outside), "recorded file"), outside[0])
        if gone:
            yield "%s not on the donor, %s the first" % (counted(len(gone), "recorded file"), gone[0])

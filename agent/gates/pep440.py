"""Versions and version specifiers, compared as packaging does (PEP 440)."""

import re

VERSION = re.compile(
    r"v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)(?:[-_.]?(?P<pre>a|alpha|b|beta|c|rc|pre|preview)[-_.]?(?P<pre_n>\d*))?"
    r"(?P<post>-(?P<post_bare>\d+)|[-_.]?(?:post|rev|r)[-_.]?(?P<post_n>\d*))?(?P<dev>[-_.]?dev[-_.]?(?P<dev_n>\d*))?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?$",
    re.I,
)
PRE = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "c": 2, "rc": 2, "pre": 2, "preview": 2}
CLAUSE = re.compile(r"\s*(===|==|~=|!=|<=|>=|<|>)\s*([^\s,]+)\s*$")
INFINITE = float("inf")


class Version:
    """A version as numbers; `Version.parse` gives None for what is none."""

    def __init__(self, match):
        group = match.group
        self.epoch = int(group("epoch") or 0)
        self.release = tuple(int(part) for part in group("release").split("."))
        self.pre = (PRE[group("pre").lower()], int(group("pre_n") or 0)) if group("pre") else None
        self.post = int(group("post_bare") or group("post_n") or 0) if group("post") else None
        self.dev = int(group("dev_n") or 0) if group("dev") else None
        self.local = (
            tuple(
                (int(part), "") if part.isdigit() else (-1, part.lower()) for part in re.split("[-_.]", group("local"))
            )
            if group("local")
            else ()
        )

    @staticmethod
    def parse(text):
        match = VERSION.match(text.strip())
        return Version(match) if match else None

    def public(self):
        """What is compared when the other side has no local label."""
        release = self.release
        while len(release) > 1 and release[-1] == 0:
            release = release[:-1]
        # A dev release comes before all of its version, a final one after its pre-releases, a post-release last.
        pre = self.pre or ((-1, 0) if self.dev is not None and self.post is None else (INFINITE, 0))
        return (
            self.epoch,
            release,
            pre,
            -1 if self.post is None else self.post,
            INFINITE if self.dev is None else self.dev,
        )

    def key(self):
        return (self.public(), self.local)


def satisfies(version, specifier):
    """Whether a version (text) meets a specifier such as `>=1.2,!=1.3.*`; pre-releases count, for they are installed already.

    A version that is none meets only `===` and the empty specifier.
    """
    found = Version.parse(version)
    for clause in [part for part in specifier.split(",") if part.strip()]:
        match = CLAUSE.match(clause)
        if not match:
            raise ValueError("%r is no version specifier" % clause)
        operator, wanted = match.groups()
        if operator == "===":
            if version.strip().lower() != wanted.lower():
                return False
        elif found is None or not _meets(found, operator, wanted):
            return False
    return True


def _meets(found, operator, wanted):
    if wanted.endswith(".*") and operator in ("==", "!="):
        return _starts_with(found, wanted[:-2]) == (operator == "==")
    other = Version.parse(wanted)
    if other is None:
        return False
    if operator in ("==", "!="):
        same = found.key() == other.key() if other.local else found.public() == other.public()
        return same == (operator == "==")
    if operator == "~=":
        return found.public() >= other.public() and _starts_with(
            found, "%d!%s" % (other.epoch, ".".join(str(part) for part in other.release[:-1]))
        )
    if operator == "<=":
        return found.public() <= other.public()
    if operator == ">=":
        return found.public() >= other.public()
    same_release = (
        _padded(found.release, other.release) == _padded(other.release, found.release) and found.epoch == other.epoch
    )
    if operator == "<":
        # `<1.2` leaves out the pre-releases of 1.2 itself, `>1.2` its post-releases.
        own_pre = found.dev is not None if other.post is not None else found.pre or found.dev is not None
        own_pre = own_pre and same_release and found.post == other.post and not other.pre and other.dev is None
        return found.public() < other.public() and not own_pre
    plain = other.post is None and other.dev is None
    own_post = same_release and plain and found.pre == other.pre and found.post is not None
    return found.public() > other.public() and not own_post


def _starts_with(found, prefix):
    other = Version.parse(prefix)
    if other is None or found.epoch != other.epoch:
        return False
    if other.pre or other.post is not None:
        return found.public()[:4] == other.public()[:4]
    return _padded(found.release, other.release)[: len(other.release)] == other.release


def _padded(release, other):
    return release + (0,) * (len(other) - len(release))

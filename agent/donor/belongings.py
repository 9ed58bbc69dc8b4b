"""What belongs to a distribution of a donor: the files that its RECORD lists, and what else lies in folders that are its alone."""

import errno
import hashlib
import os
import re
import stat

from agent.donor import editables
from agent.donor.listing import LINK, Entry
from agent.fault import Fault
from agent.venv import dists, interpreter, ownership, record, tree

# Made anew where the distribution is laid: they would tell of the donor.
MADE_ANEW = ("RECORD", "INSTALLER", "RECORD.jws", "RECORD.p7s")
HEADERS = re.compile(r"include/site/python3\.\d+t?/(.+)")


class Donor:
    """The distributions of the venv at `prefix`, and whose each file is."""

    def __init__(self, prefix):
        self.prefix = os.path.normpath(prefix)
        self.site = interpreter.site_packages(self.prefix)
        self._real = {os.path.realpath(self.site): "site", os.path.realpath(self.prefix): ""}
        self._installed = None
        self._recorded = {}
        self._holders = {}
        self._trees = None

    @property
    def installed(self):
        """All Dists, read when first asked for: who only fetches files needs none."""
        if self._installed is None:
            self._installed = dists.installed(self.site)
            self._recorded = {dist.info: record.files(self.site, dist) for dist in self._installed}
            for info, paths in self._recorded.items():
                for folder in _folders(paths or ()):
                    self._holders.setdefault(folder, set()).add(info)
        return self._installed

    def belongings(self, dist):
        """Belongings of one distribution, of an editable one as if it were installed. Fault `editable-donor`, `unclear-donor`."""
        paths = self._recorded[dist.info]
        if paths is None:
            theirs = {path for info, others in self._recorded.items() if info != dist.info for path in others or ()}
            paths = ownership.files(self.site, dist, theirs)
        source = editables.sources(self, dist)
        found = Belongings(dist)
        for path in paths:
            if source is None or path not in source.own:
                self._add(found, os.path.normpath(os.path.join(self.site, path)))
        own = {dist.info}
        alone = {folder for folder in _folders(paths) if self._holders.get(folder, own) == own} | own
        for folder in sorted(folder for folder in alone if os.path.dirname(folder) not in alone):
            for path in _walk(os.path.join(self.site, folder), []):
                if source is None or os.path.relpath(path, self.site) not in source.own:
                    self._add(found, path)
        for name, path in sorted(source.trees.items()) if source else ():
            self._add_source(found, "site/" + name, path)
        found.settle()
        if not self._recorded[dist.info] and found.only_metadata():
            raise self._unrecorded(dist)
        found.unrecorded = self._recorded[dist.info] is None
        return found

    def _unrecorded(self, dist):
        path = os.path.join(self.site, dist.info, record.NAME)
        return Fault(
            "unclear-donor",
            "%s does not say on the donor what belongs to it" % dist,
            where=path,
            found="a RECORD that lists nothing" if os.path.exists(path) else "no RECORD",
            expected="a RECORD that lists its files",
            remedy="install it anew on the donor with pip or uv, or take it from a wheel",
        )

    def recorded(self, dist):
        """The paths that a distribution says are its own; none when it says nothing."""
        return self._recorded[dist.info] or ()

    def path(self, place):
        """Where the file of a place (`site/torch/__init__.py`) lies in this venv."""
        part, _, rest = place.partition("/")
        if part == "site":
            path = os.path.join(self.site, rest)
            return path if os.path.lexists(path) else self._in_sources(rest) or path
        if part == "headers":
            minor = os.path.basename(os.path.dirname(self.site))
            return os.path.join(self.prefix, "include", "site", minor, rest)
        return os.path.join(self.prefix, rest if part == "data" else place)

    def _in_sources(self, rest):
        """Where a file of an editable install lies."""
        if self._trees is None:
            found = [editables.sources(self, dist) for dist in self.installed]
            self._trees = {name: path for source in found if source for name, path in source.trees.items()}
        for name, path in self._trees.items():
            if rest == name or rest.startswith(name + "/"):
                return path + rest[len(name) :]
        return None

    def _add_source(self, found, place, path):
        if os.path.isfile(path):
            found.take(place, path)
            return
        for one in _walk(path, [], tree.source_skip()):
            below = place + "/" + os.path.relpath(one, path)
            if not _is_bytecode(below):
                found.take(below, one)

    def _add(self, found, path):
        place = self._place(path)
        if place is None:
            found.outside.append(path)
        elif not _is_bytecode(place) and place[len("site/") :] not in [
            found.dist.info + "/" + name for name in MADE_ANEW
        ]:
            found.take(place, path)

    def _place(self, path):
        if path.startswith(self.site + os.sep):
            return "site/" + path[len(self.site) + 1 :]
        # `lib64` may be another name of `lib`, so that is asked of the file system.
        folder, name = os.path.split(path)
        real = os.path.realpath(folder) + os.sep
        for top, part in self._real.items():
            if real.startswith(top + os.sep):
                below = real[len(top) + 1 :] + name
                if part == "site":
                    return "site/" + below
                headers = HEADERS.match(below)
                return (
                    "headers/" + headers.group(1) if headers else below if below.startswith("bin/") else "data/" + below
                )
        return None


class Belongings:
    """places: {place: path}, real paths of files, so that a file that is a link counts as what it leads to; links: {place: target} inside of the distribution.

    outside: recorded paths that lie out of the venv; gone: recorded places where nothing is; unrecorded: whether it has no RECORD.
    """

    def __init__(self, dist):
        self.dist = dist
        self.places = {}
        self.links = {}
        self.outside = []
        self.gone = []
        self.unrecorded = False
        self._linked = {}
        self._facts = {}

    def take(self, place, path):
        """Notes what is at a path as the file of a place."""
        if place in self.places or place in self.links:
            return
        try:
            facts = os.lstat(path)
            if stat.S_ISLNK(facts.st_mode):
                target = os.readlink(path)
                if not os.path.isabs(target) and "/" not in target:
                    self.links[place] = target
                    self._linked[place] = path
                    self._facts[place] = facts
                    return
                path = os.path.realpath(path)
                facts = os.stat(path)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                raise
            self.gone.append(place)
            return
        if stat.S_ISREG(facts.st_mode):
            self.places[place] = path
            self._facts[place] = facts

    def settle(self):
        """A link to what does not go along counts as the file that it leads to."""
        for place, target in sorted(self.links.items()):
            beside = os.path.join(os.path.dirname(place), target)
            if beside not in self.places and beside not in self.links:
                del self.links[place]
                self.take(place, os.path.realpath(self._linked[place]))
        return self

    def only_metadata(self):
        """Whether there is nothing of it but its .dist-info."""
        own = "site/%s/" % self.dist.info
        return all(place.startswith(own) for place in list(self.places) + list(self.links))

    @property
    def size(self):
        return sum(self._facts[place].st_size for place in self.places)

    def stamp(self):
        """A digest of what a stat says of each file: as long as it is the same, so are the bytes."""
        lines = [
            "%s %d %d %d %d %o %s"
            % (place, one.st_ino, one.st_size, one.st_mtime_ns, one.st_ctime_ns, one.st_mode, self.links.get(place, ""))
            for place, one in sorted(self._facts.items())
        ]
        return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()[:32]

    def entries(self, hashes):
        """[Entry], with the sha256 of each file by its path."""
        found = [Entry(place, LINK, 0, None, target) for place, target in self.links.items()]
        for place, path in self.places.items():
            facts = self._facts[place]
            found.append(Entry(place, "755" if facts.st_mode & 0o100 else "644", facts.st_size, hashes[path]))
        return found


def _folders(paths):
    """The folders that these paths lie in, below site-packages."""
    found = {path.rpartition("/")[0] for path in paths if not path.startswith("../")}
    return found.union(*map(ownership.parents, found)) - {""}


def _is_bytecode(place):
    return place.endswith(".pyc") or "__pycache__" in place.split("/")


def _walk(folder, above, skip=None):
    """Files below a folder that no RECORD lists: added by hand, compiled. A folder that is a link is gone into, but not in circles."""
    real = os.path.realpath(folder)
    if any((one + os.sep).startswith(real + os.sep) for one in above) or not os.path.isdir(folder):
        return
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            if _is_folder(entry):
                if entry.name != "__pycache__" and not (skip and skip(entry.path, entry)):
                    yield from _walk(entry.path, above + [real], skip)
            else:
                yield entry.path


def _is_folder(entry):
    try:
        return entry.is_dir()
    except OSError as error:
        # A link that leads to itself is nothing that could be taken.
        if error.errno != errno.ELOOP:
            raise
        return False

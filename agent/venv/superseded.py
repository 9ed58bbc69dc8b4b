"""Distributions that an overlay takes the packages from under another name: `sgl-kernel` by `sglang-kernel`, code by a copy of it.

Left there, the metadata of the one would go on speaking for the code of the other.
"""

import os
import posixpath

from agent.venv import dists, ownership, record, tree

#: How the `__init__.py` of a namespace says that it is nobody's.
NAMESPACE = (b"declare_namespace", b"extend_path")


class Before:
    """The distributions of a release before an overlay is laid over it, and what each lists. facts: `staged.facts` of the overlay."""

    def __init__(self, site, overlay, facts):
        self.site = site
        self.named = set(facts["packages"]) | {dists.normalise(name) for name in facts["names"]}
        self.rows = {dist: record.read(site, dist) or [] for dist in dists.installed(site)}
        self.new = set(tree.lines(os.path.join(overlay, "site")))
        self.superseded = superseded(
            site, overlay, self.new, {dist: rows for dist, rows in self.rows.items() if dist.name not in self.named}
        )

    def names(self):
        """Names of the distributions that go though the overlay does not name them."""
        return [dist.name for dist in self.superseded]

    def said(self, removed, about):
        """Sentences, after it was laid, about what was replaced besides what the overlay names. removed: names of those that went."""
        lines = [
            "%s went, as its package %s is that of %s" % (dist, " and ".join(tops), about)
            for dist, tops in self.superseded.items()
        ]
        others = {}
        for dist in [dist for dist in self.rows if dist.name not in removed]:
            for path, digest, _size in self.rows[dist]:
                others.setdefault(path, {})[dist] = digest
        for dist in [dist for dist in self.rows if dist.name in removed]:
            lines += left_behind(self.site, dist, self.rows[dist], others)
        return lines + made_way(self.new, others, about)


def superseded(site, overlay, new, rest):
    """{distribution: packages} of those all of whose top-level folders the overlay brings, a package among them. new: its paths; rest: {distribution: RECORD}."""
    tops = {path.split("/")[0] for path in new}
    brought = {path.split("/")[0] for path in new if path.count("/") == 1 and path.endswith("/__init__.py")}
    found = {}
    for dist, rows in rest.items():
        own = {posixpath.normpath(path).split("/")[0] for path, _digest, _size in rows} - {
            "..",
            "__pycache__",
            dist.info,
        }
        packages = {top for top in own & brought if _is_package(overlay, "site", top) and _is_package(site, top)}
        if packages and own <= tops:
            found[dist] = sorted(packages)
    return found


def left_behind(site, dist, rows, others):
    """A sentence for each file that stays with the content of a distribution that went, because others own it too: {path: {owner: digest}}."""
    found = []
    for path, digest, _size in rows:
        theirs = others.get(path, {})
        if not digest or not theirs or digest in theirs.values() or not os.path.isfile(os.path.join(site, path)):
            continue
        if record.row(site, path)[1] == digest:
            names = " and ".join(str(other) for other in theirs)
            found.append("%s stays as %s left it: %s owns it too, with other bytes" % (path, dist, names))
    return found


def made_way(new, others, about):
    """A sentence for each file of others that is gone, because it had the name of a folder that came (`new`: its paths), or lay in one that is a file now."""
    folders = {folder for path in new for folder in ownership.parents(path)}
    found = []
    for path in sorted(others):
        names = " and ".join(str(other) for other in others[path])
        # Some RECORDs list folders, without a hash.
        if path in folders and any(others[path].values()):
            found.append("%s of %s went: %s brings a folder of that name" % (path, names, about))
        found += [
            "%s of %s went: %s brings a file %s" % (path, names, about, folder)
            for folder in ownership.parents(path)
            if folder in new
        ]
    return found


def _is_package(*parts):
    try:
        with open(os.path.join(*parts, "__init__.py"), "rb") as file:
            text = file.read()
    except OSError:
        return False
    return bool(text.strip()) and not any(word in text for word in NAMESPACE)

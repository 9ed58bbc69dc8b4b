"""Distributions that an overlay takes the packages from under another name: `sgl-kernel` by `sglang-kernel`, code by a copy of it.

Left there, the metadata of the one would go on speaking for the code of the other.
"""

import os
import posixpath

from agent.venv import dists, record, tree

#: How the `__init__.py` of a namespace says that it is nobody's.
NAMESPACE = (b"declare_namespace", b"extend_path")


class Before:
    """The distributions of a release before an overlay is laid over it, and what each lists. facts: `staged.facts` of the overlay."""

    def __init__(self, site, overlay, facts):
        self.site = site
        self.named = set(facts["packages"]) | {dists.normalise(name) for name in facts["names"]}
        self.rows = {dist: record.read(site, dist) or [] for dist in dists.installed(site)}
        self.superseded = superseded(
            site, overlay, {dist: rows for dist, rows in self.rows.items() if dist.name not in self.named}
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
        return lines


def superseded(site, overlay, rest):
    """{distribution: packages} of those all of whose top-level folders the overlay brings, a package among them. rest: {distribution: RECORD}."""
    new = tree.lines(os.path.join(overlay, "site"))
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


def _is_package(*parts):
    try:
        with open(os.path.join(*parts, "__init__.py"), "rb") as file:
            text = file.read()
    except OSError:
        return False
    return bool(text.strip()) and not any(word in text for word in NAMESPACE)

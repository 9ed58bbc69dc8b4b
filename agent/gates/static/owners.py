"""Which distribution a file of site-packages is of, and what torch says of itself."""

import os
import re

from agent.venv import dists, record

VERSION = re.compile(r"""^__version__\s*(?::[^=\n]+)?=\s*(?:\w+\s*=\s*)*["']([^"'\n]+)["']""", re.M)
CUDA = re.compile(r"""^cuda\s*(?::[^=\n]+)?=\s*["']([\d.]+)["']""", re.M)
LABEL = re.compile(r"\+cu(\d+)(\d)\b")


class Owners:
    """The distributions of one site-packages. Their RECORDs are read when first asked for."""

    def __init__(self, site):
        self.site, self.installed, self._owners = site, dists.installed(site), None

    def of(self, path):
        """[Dist] that own a path below site-packages."""
        if self._owners is None:
            self._owners = record.owners(self.site, self.installed)
        return self._owners.get(path, [])

    def named(self, path):
        """`sgl-kernel 0.3.16` for a path below site-packages, or None."""
        return ", ".join("%s %s" % (dist.name, dist.version) for dist in self.of(path)) or None

    def version(self, name):
        """The version of a distribution by its metadata, or None."""
        return next((dist.version for dist in self.installed if dist.name == name), None)

    def requires(self, name, other):
        """The requirement text by which a distribution asks for another (`torch==2.9.1`), or None."""
        dist = next((dist for dist in self.installed if dist.name == name), None)
        wishes = dists.metadata(self.site, dist).get_all("Requires-Dist") or [] if dist else []
        found = [wish.split(";")[0].strip() for wish in wishes if "extra ==" not in wish]
        wish = next((wish for wish in found if dists.normalise(re.split(r"[^\w.-]", wish)[0]) == other), None)
        # Old metadata puts the version into parentheses.
        return wish and re.sub(r"\s*\((.*)\)", r"\1", wish)


def says(path):
    """(version, cuda) that a Python file assigns; None for what it does not."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(1 << 16)
    except OSError:
        return None, None
    version, cuda = VERSION.search(text), CUDA.search(text)
    return version and version.group(1), cuda and cuda.group(1)


def torch(site):
    """(version, cuda) by torch/version.py."""
    return says(os.path.join(site, "torch", "version.py"))


def label_major(version):
    """The CUDA major of a local label: `13` for `2.11.0+cu130`; None without such a label."""
    match = LABEL.search(version or "")
    return match and match.group(1)
